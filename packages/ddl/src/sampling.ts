/*! Finds the sampling interval of a materialized view in the tokens of its query. */
import { unquoteToken } from './grammar/names.js';
import { isKeyword, type QueryToken, tokenizeQuery } from './query-tokens.js';

/**
 * Finds the sampling of the outermost query that samples, with SAMPLE BY or by selecting `timestamp_floor('1h', …)`.
 * @returns the interval with its number (for `1h` and for `h` it is `1h`), and the zone of ALIGN TO CALENDAR TIME ZONE; undefined if there
 *   is none, or if queries of the same depth have different intervals
 */
export function findSampling(body: string): { interval: string; timeZone: string | undefined } | undefined {
  const tokens = tokenizeQuery(body);
  const samplings = tokens.flatMap((token, index): { depth: number; interval: string; clauses?: number }[] => {
    const { depth } = token;
    const interval = unquoteToken(tokens[index + 2]?.text ?? '').replace(/^(?!\d)/, '1');
    if (isKeyword(token, 'timestamp_floor') && tokens[index + 1]?.text === '(') return [{ depth, interval }];
    if (!isKeyword(token, 'sample') || !isKeyword(tokens[index + 1], 'by')) return [];
    return [{ depth, interval, clauses: index }];
  });
  const least = samplings.reduce((min, { depth }) => Math.min(min, depth), Number.POSITIVE_INFINITY);
  const [first, ...others] = samplings.filter(({ depth }) => depth === least);
  if (!first || others.some(({ interval }) => interval !== first.interval)) return undefined;
  const { interval, clauses } = first;
  return { interval, timeZone: clauses === undefined ? undefined : findTimeZone(tokens.slice(clauses)) };
}

/** The time zone in `ALIGN TO CALENDAR TIME ZONE 'x'`, searched up to the end of the query. */
function findTimeZone(tokens: readonly QueryToken[]): string | undefined {
  const end = tokens.findIndex(({ depth }) => depth < (tokens[0]?.depth ?? 0));
  const query = end < 0 ? tokens : tokens.slice(0, end);
  const time = query.findIndex((token, index) => isKeyword(token, 'time') && isKeyword(query[index + 1], 'zone'));
  return time < 0 ? undefined : unquoteToken(query[time + 2]?.text ?? '');
}
