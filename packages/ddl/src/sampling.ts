/*! Finds the sampling interval of a materialized view in the tokens of its query. */
import { unquote } from './grammar/names.js';
import { tokenizeQuery } from './query-tokens.js';

export interface Sampling {
  /** The interval with its number: for `1h` and for `h` it is `1h`. */
  readonly interval: string;
  /** The time zone of ALIGN TO CALENDAR TIME ZONE. */
  readonly timeZone?: string | undefined;
}

/**
 * Finds the sampling of the outermost query that samples, with SAMPLE BY or by selecting `timestamp_floor('1h', …)`.
 * Returns undefined if there is none, or if queries of the same depth have different intervals.
 */
export function findSampling(body: string): Sampling | undefined {
  const tokens = tokenizeQuery(body).map(({ text }) => text);
  let depth = 0;
  const samplings: { depth: number; interval: string; clauses?: number }[] = [];
  tokens.forEach((token, at) => {
    if (token === '(') depth++;
    else if (token === ')') depth--;
    const word = token.toLowerCase();
    if (word === 'sample' && tokens[at + 1]?.toLowerCase() === 'by')
      samplings.push({ depth, interval: withCount(tokens[at + 2] ?? ''), clauses: at + 3 });
    if (word === 'timestamp_floor' && tokens[at + 1] === '(')
      samplings.push({ depth, interval: withCount(unquote(tokens[at + 2] ?? '')) });
  });
  const least = samplings.reduce((min, each) => Math.min(min, each.depth), Number.POSITIVE_INFINITY);
  const [first, ...others] = samplings.filter(each => each.depth === least);
  if (!first || others.some(({ interval }) => interval !== first.interval)) return undefined;
  const { interval, clauses } = first;
  return { interval, timeZone: clauses === undefined ? undefined : timeZoneAfter(tokens, clauses) };
}

const withCount = (interval: string): string => (/^\d/.test(interval) ? interval : `1${interval}`);

/** The time zone in `ALIGN TO CALENDAR TIME ZONE 'x'`, searched up to the end of the query. */
function timeZoneAfter(tokens: readonly string[], from: number): string | undefined {
  for (let at = from, depth = 0; at < tokens.length && depth >= 0; at++) {
    if (tokens[at] === '(') depth++;
    if (tokens[at] === ')') depth--;
    if (tokens[at]?.toLowerCase() === 'time' && tokens[at + 1]?.toLowerCase() === 'zone')
      return unquote(tokens[at + 2] ?? '');
  }
  return undefined;
}
