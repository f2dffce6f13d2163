/*!
 * The principals and objects that a statement of access control names; documented forms, as the server's own are not
 * public.
 */
import { type Kind, keywordOf, type LocatedName, parseName, significantTokens, type Token } from '@sqlpipe/sql';

/** What a membership, an assumption or a grant names, without quotes, in the order written. */
export interface GrantTargets {
  /** The tables, views and materialized views that a grant is on; none where it is on all of them or on the database. */
  objects: string[];
  /** A user and the groups; a service account and who may assume it; who receives a grant. */
  principals: string[];
}

/** The same, and where each name stands. */
interface LocatedTargets {
  objects: LocatedName[];
  principals: LocatedName[];
}

/** Reads `ADD USER … TO …`, `[GRANT] ASSUME SERVICE ACCOUNT … TO …` and `GRANT … [ON …] TO …`. Other kinds name nothing. */
export function grantTargets(statement: string, kind: Kind): GrantTargets {
  const { objects, principals } = locateGrantTargets(statement, kind);
  return { objects: objects.map(({ name }) => name), principals: principals.map(({ name }) => name) };
}

/** As `grantTargets`, with where the names stand. */
export function locateGrantTargets(statement: string, kind: Kind): LocatedTargets {
  if (kind !== 'membership' && kind !== 'assumption' && kind !== 'grant') return { objects: [], principals: [] };
  const tokens = [...outsideParentheses(significantTokens(statement))];
  const to = indexOfWord(tokens, 'TO');
  const head = tokens.slice(0, to);
  const namesAfter = (word: string) => parseNames(head.slice(indexOfWord(head, word) + 1));
  const receivers = parseNames(tokens.slice(to + 1));
  if (kind === 'membership') return { objects: [], principals: [...namesAfter('USER'), ...receivers] };
  if (kind === 'assumption') return { objects: [], principals: [...namesAfter('ACCOUNT'), ...receivers] };
  const isOnAll = keywordOf(head.at(-2)) === 'ALL' && keywordOf(head.at(-1)) === 'TABLES';
  return { objects: isOnAll ? [] : namesAfter('ON'), principals: receivers };
}

/** Where a bare word is first; the end where it is not. */
function indexOfWord(tokens: Token[], word: string): number {
  const at = tokens.findIndex(token => keywordOf(token) === word);
  return at < 0 ? tokens.length : at;
}

/** The names at the start and after each comma. */
const parseNames = (tokens: Token[]): LocatedName[] =>
  tokens.flatMap((_, at) => (at && tokens[at - 1]?.text !== ',' ? [] : parseName(next => tokens[at + next])));

/** Without lists of columns. */
function* outsideParentheses(tokens: Iterable<Token>): Generator<Token> {
  let depth = 0;
  for (const token of tokens) {
    if (token.text === '(') depth++;
    else if (token.text === ')') depth--;
    else if (!depth) yield token;
  }
}
