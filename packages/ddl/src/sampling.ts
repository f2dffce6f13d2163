/*! The interval that the query of a materialized view samples by, found from its tokens alone. */
import { unquote } from './grammar/names.js';
import { tokenizeQuery } from './query-tokens.js';

export interface Sampling {
  /** As it is written without a needless 1: `1h` is `1h`, `h` is `1h`. */
  readonly interval: string;
  /** That of ALIGN TO CALENDAR TIME ZONE. */
  readonly timeZone?: string | undefined;
}

/**
 * What the outermost query that samples says: SAMPLE BY, or a `timestamp_floor('1h', …)` that it selects. Undefined where
 * several are equally deep, or none is.
 */
export function findSampling(body: string): Sampling | undefined {
  const tokens = tokenizeQuery(body).map(({ text }) => text);
  let depth = 0;
  const found: { depth: number; interval: string; clauses?: number }[] = [];
  tokens.forEach((token, at) => {
    if (token === '(') depth++;
    else if (token === ')') depth--;
    const word = token.toLowerCase();
    if (word === 'sample' && tokens[at + 1]?.toLowerCase() === 'by')
      found.push({ depth, interval: withCount(tokens[at + 2] ?? ''), clauses: at + 3 });
    if (word === 'timestamp_floor' && tokens[at + 1] === '(')
      found.push({ depth, interval: withCount(unquote(tokens[at + 2] ?? '')) });
  });
  const least = found.reduce((min, each) => Math.min(min, each.depth), Number.POSITIVE_INFINITY);
  const [first, ...others] = found.filter(each => each.depth === least);
  if (!first || others.some(({ interval }) => interval !== first.interval)) return undefined;
  const { interval, clauses } = first;
  return { interval, timeZone: clauses === undefined ? undefined : timeZoneAfter(tokens, clauses) };
}

const withCount = (interval: string): string => (/^\d/.test(interval) ? interval : `1${interval}`);

/** `ALIGN TO CALENDAR TIME ZONE 'x'`, up to the end of the query. */
function timeZoneAfter(tokens: readonly string[], from: number): string | undefined {
  for (let at = from, depth = 0; at < tokens.length && depth >= 0; at++) {
    if (tokens[at] === '(') depth++;
    if (tokens[at] === ')') depth--;
    if (tokens[at]?.toLowerCase() === 'time' && tokens[at + 1]?.toLowerCase() === 'zone')
      return unquote(tokens[at + 2] ?? '');
  }
  return undefined;
}
