/*! Finds the clauses of a CREATE TABLE that another edition or version may not support. */
import { keywordOf, significantTokens, type Token } from '@sqlpipe/sql';

/** A clause with its tokens. Its range `[start, end)` includes the white space before it. */
export interface Clause {
  readonly start: number;
  readonly end: number;
  readonly tokens: readonly Token[];
}

/** The number of tokens of each clause after the columns, by its first word. */
const OF_TABLE: Record<string, (tokens: readonly Token[]) => number> = {
  TTL: tokens => (/^\d+$/.test(tokens[1]?.text ?? '') ? 3 : 2), // `14 DAYS` or `2w`
  STORAGE: tokens => closing(tokens, 2) + 1,
  FORMAT: () => 2,
};

/** The number of tokens of each clause after the type of a column, by its first word. */
const OF_COLUMN: Record<string, (tokens: readonly Token[]) => number> = {
  INDEX: tokens => lengthOfIndex(tokens),
  PARQUET: tokens => closing(tokens, 1) + 1,
};

/** The clause after the columns that begins with a word: TTL, STORAGE or FORMAT. */
export function tableClause(statement: string, word: string): Clause | undefined {
  const tokens = [...significantTokens(statement)];
  const columns = tokens.findIndex(({ text }) => text === '(');
  const first = closing(tokens, columns) + 1;
  const at = topLevel(tokens).find(at => at >= first && keywordOf(tokens[at]) === word);
  return at === undefined ? undefined : clauseAt(tokens, at, OF_TABLE[word]);
}

/** The clauses that begin with a word, INDEX or PARQUET, of each column that has it. */
export function columnClauses(statement: string, word: string): Clause[] {
  const tokens = [...significantTokens(statement)];
  const open = tokens.findIndex(({ text }) => text === '(');
  const inside = tokens.slice(open + 1, closing(tokens, open));
  let start = 0; // the first token of the column: its name and its type are not clauses
  return topLevel(inside).flatMap(at => {
    if (inside[at]?.text === ',') start = at + 1;
    return at > start + 1 && keywordOf(inside[at]) === word ? clauseAt(inside, at, OF_COLUMN[word]) : [];
  });
}

/** Replaces clauses of a statement by other text. */
export function replaceClauses(
  statement: string,
  clauses: readonly Clause[],
  text: (clause: Clause) => string,
): string {
  let end = 0;
  const pieces = clauses.flatMap(clause => {
    const before = statement.slice(end, clause.start);
    end = clause.end;
    return [before, text(clause)];
  });
  return pieces.join('') + statement.slice(end);
}

function clauseAt(tokens: readonly Token[], at: number, lengthOf: (typeof OF_TABLE)[string] | undefined): Clause {
  const own = tokens.slice(at, at + (lengthOf?.(tokens.slice(at)) ?? 1));
  return { start: endOf(tokens[at - 1]), end: endOf(own.at(-1)), tokens: own };
}

/** `INDEX [TYPE BITMAP [CAPACITY n] | TYPE POSTING [DELTA | EF]] [INCLUDE (…)] [CAPACITY n]` */
function lengthOfIndex(tokens: readonly Token[]): number {
  let at = 1;
  for (let word = keywordOf(tokens[at]); INDEX_WORDS.has(word); word = keywordOf(tokens[at]))
    at = word === 'INCLUDE' ? closing(tokens, at + 1) + 1 : at + (word === 'TYPE' || word === 'CAPACITY' ? 2 : 1);
  return at;
}

const INDEX_WORDS = new Set(['TYPE', 'DELTA', 'EF', 'INCLUDE', 'CAPACITY']);

const endOf = (token: Token | undefined): number => (token ? token.start + token.text.length : 0);

/** The indexes of the tokens outside of parentheses. */
function topLevel(tokens: readonly Token[]): number[] {
  let depth = 0;
  return [...tokens.keys()].filter(at => {
    const { text } = tokens[at] as Token;
    if (text === ')') depth--;
    const isTop = depth === 0;
    if (text === '(') depth++;
    return isTop;
  });
}

/** The index of the parenthesis that closes the one at an index. */
function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    if (tokens[at]?.text === '(') depth++;
    else if (tokens[at]?.text === ')' && --depth === 0) return at;
  }
  return tokens.length - 1;
}
