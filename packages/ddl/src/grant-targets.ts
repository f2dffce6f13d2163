/*!
 * Finds the principals and objects that a statement of access control names. It knows the documented forms, because the
 * server's grammar is not public.
 */
import { type Kind, keywordOf, type NameSpan, parseName, significantTokens, type Token } from '@sqlpipe/sql';

/** The names in a membership, an assumption or a grant, without quotes, in the order of the text. */
export interface GrantTargets {
  /** The tables, views and materialized views of a grant; empty if it is on all of them or on the database. */
  objects: string[];
  /**
   * Of a membership, the user and the groups; of an assumption, the service account and its receivers; of a grant, its
   * receivers.
   */
  principals: string[];
}

/** Like `GrantTargets`, with the position of each name. */
interface LocatedTargets {
  objects: NameSpan[];
  principals: NameSpan[];
}

/**
 * Reads `ADD USER … TO …`, `[GRANT] ASSUME SERVICE ACCOUNT … TO …` and `GRANT … [ON …] TO …`. Other kinds name nothing.
 */
export function grantTargets(statement: string, kind: Kind): GrantTargets {
  const { objects, principals } = locateGrantTargets(statement, kind);
  return { objects: objects.map(({ name }) => name), principals: principals.map(({ name }) => name) };
}

/** Like `grantTargets`, with the positions of the names. */
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

/**
 * Sorts grants from the widest scope to the narrowest, otherwise in their order. A wider grant removes narrower ones, with their
 * grant option (documented for GRANT), so it has to come first.
 * @param statementOf the statement of an item
 */
export const sortByScope = <T>(grants: readonly T[], statementOf: (grant: T) => string): T[] =>
  grants
    .map(grant => ({ grant, scope: scopeOf(statementOf(grant)) }))
    .sort((a, b) => a.scope - b.scope)
    .map(({ grant }) => grant);

/** The scope of a GRANT: 0 for the database, 1 for all tables, 2 for tables, 3 for columns. */
function scopeOf(grant: string): number {
  const words: string[] = [];
  for (const token of significantTokens(grant)) {
    if (keywordOf(token) === 'TO') break;
    if (words.length > 0 || keywordOf(token) === 'ON') words.push(token.text.toUpperCase());
  }
  if (words.length === 0) return 0;
  if (words.join(' ') === 'ON ALL TABLES') return 1;
  return words.includes('(') ? 3 : 2;
}

/** The index of the first bare word of that text, or the number of tokens if there is none. */
function indexOfWord(tokens: Token[], word: string): number {
  const at = tokens.findIndex(token => keywordOf(token) === word);
  return at < 0 ? tokens.length : at;
}

/** Parses the names at the start and after each comma. */
const parseNames = (tokens: Token[]): NameSpan[] =>
  tokens.flatMap((_, at) => (at && tokens[at - 1]?.text !== ',' ? [] : parseName(next => tokens[at + next])));

/** The tokens outside of parentheses, which enclose lists of columns. */
function* outsideParentheses(tokens: Iterable<Token>): Generator<Token> {
  let depth = 0;
  for (const token of tokens) {
    if (token.text === '(') depth++;
    else if (token.text === ')') depth--;
    else if (!depth) yield token;
  }
}
