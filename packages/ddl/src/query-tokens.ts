/*! Queries as their tokens, which is how two of them are compared: white space, comments and the case of keywords do not matter. */
import { Cursor } from './grammar/cursor.js';
import { Rejection } from './grammar/rejection.js';
import { RESERVED } from './names.js';

/** A token of a query, and where it starts in it. */
export interface QueryToken {
  readonly text: string;
  readonly at: number;
}

/** Words that are keywords where they stand, and may be names elsewhere. */
const UNRESERVED = (
  'asof by calendar cast convert cross current declare decimal else fill first first_value full group groups horizon inner interval is ' +
  'latest left limit linear lt natural no none null observation offset over overridable partition pivot prev preceding range right row ' +
  'rows sample splice then tick ties time timestamp tolerance unbounded using following when window with within without zone exclude ' +
  'include if'
).split(' ');

const KEYWORDS = new Set([...RESERVED, ...UNRESERVED]);

const TYPES = new Set(
  (
    'boolean byte short char int integer long bigint smallint long128 long256 float real double date timestamp timestamp_ns string text ' +
    'varchar symbol binary bytea uuid ipv4 geohash decimal'
  ).split(' '),
);

/** The tokens of a query as the service reads them, its closing `;` left out. Never fails. */
export function queryTokens(query: string): QueryToken[] {
  const cursor = new Cursor(query);
  const tokens: QueryToken[] = [];
  try {
    for (let text = cursor.next(); text !== undefined; text = cursor.next()) tokens.push({ text, at: cursor.at });
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    tokens.push({ text: query.slice(cursor.at), at: cursor.at }); // a quote that is never closed
  }
  if (tokens.at(-1)?.text === ';') tokens.pop();
  return tokens;
}

/** Where two queries first differ, as offsets into each; undefined where they are the same. */
export function findQueryDifference(a: string, b: string): { a: number; b: number } | undefined {
  if (a === b) return undefined;
  const [inA, inB] = [queryTokens(a), queryTokens(b)];
  for (let i = 0; i < inA.length || i < inB.length; i++)
    if (comparable(inA, i) !== comparable(inB, i)) return { a: inA[i]?.at ?? a.length, b: inB[i]?.at ?? b.length };
  return undefined;
}

/** A token in the form that two spellings of it share. */
function comparable(tokens: readonly QueryToken[], at: number): string | undefined {
  const text = tokens[at]?.text;
  const word = text?.toLowerCase();
  if (word === undefined || word === text) return text;
  const [before, after] = [tokens[at - 1]?.text.toLowerCase(), tokens[at + 1]?.text];
  const isType = TYPES.has(word) && (before === '::' || (before === 'as' && (after === ')' || after === '(')));
  const isName = before === 'as' || before === '.' || after === '.';
  return isType || (KEYWORDS.has(word) && !isName) ? word : text;
}
