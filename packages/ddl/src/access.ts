/*! Whom and what a statement of access control names; forms of the documentation, as the server's own are not public. */
import { type Kind, type LocatedName, meaningful, nameAt, type Token, wordOf } from '@sqlpipe/sql';

/** What a membership, an assumption or a grant names, without quotes, in the order written. */
export interface Access {
  /** The tables, views and materialized views that a grant is on; none where it is on all of them or on the database. */
  objects: string[];
  /** A user and the groups; a service account and who may assume it; who receives a grant. */
  principals: string[];
}

/** The same, and where each name stands. */
interface LocatedAccess {
  objects: LocatedName[];
  principals: LocatedName[];
}

/** Reads `ADD USER … TO …`, `[GRANT] ASSUME SERVICE ACCOUNT … TO …` and `GRANT … [ON …] TO …`. Other kinds name nothing. */
export function access(statement: string, kind: Kind): Access {
  const { objects, principals } = locateAccess(statement, kind);
  return { objects: objects.map(({ name }) => name), principals: principals.map(({ name }) => name) };
}

/** As `access`, with where the names stand. */
export function locateAccess(statement: string, kind: Kind): LocatedAccess {
  if (kind !== 'membership' && kind !== 'assumption' && kind !== 'grant') return { objects: [], principals: [] };
  const tokens = [...outsideParentheses(meaningful(statement))];
  const to = find(tokens, 'TO');
  const head = tokens.slice(0, to);
  const behind = (word: string) => names(head.slice(find(head, word) + 1));
  const receivers = names(tokens.slice(to + 1));
  if (kind === 'membership') return { objects: [], principals: [...behind('USER'), ...receivers] };
  if (kind === 'assumption') return { objects: [], principals: [...behind('ACCOUNT'), ...receivers] };
  const isOnAll = wordOf(head.at(-2)) === 'ALL' && wordOf(head.at(-1)) === 'TABLES';
  return { objects: isOnAll ? [] : behind('ON'), principals: receivers };
}

/** Where a bare word is first; the end where it is not. */
function find(tokens: Token[], word: string): number {
  const at = tokens.findIndex(token => wordOf(token) === word);
  return at < 0 ? tokens.length : at;
}

/** The names at the start and after each comma. */
const names = (tokens: Token[]): LocatedName[] =>
  tokens.flatMap((_, at) => (at && tokens[at - 1]?.text !== ',' ? [] : nameAt(next => tokens[at + next])));

/** Without lists of columns. */
function* outsideParentheses(tokens: Iterable<Token>): Generator<Token> {
  let depth = 0;
  for (const token of tokens) {
    if (token.text === '(') depth++;
    else if (token.text === ')') depth--;
    else if (!depth) yield token;
  }
}
