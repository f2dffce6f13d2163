/*!
 * Prints questions about rows that are still stored although they are older than the TTL: rows of a partition that was attached, or of a
 * view that was refreshed for a range only. A server drops them with the next write, refresh or SET TTL (observed on 9.3.4).
 */
import { ASSUMED_PARTITION, doubleQuote, type MaterializedViewDefinition, retentionAgeOf } from '@sqlpipe/ddl';
import { quoteLiteral } from '@sqlpipe/sql';

export type RetainedObject = Pick<MaterializedViewDefinition, 'name' | 'timestamp' | 'partitionBy'> &
  Parameters<typeof retentionAgeOf>[0];

const LETTERS = { HOUR: 'h', DAY: 'd', WEEK: 'w', MONTH: 'M', YEAR: 'y', NONE: 'y' } as const;

/**
 * A partition has expired if the time from its end to the newest row is at least the TTL. A server may ignore rows that lie in the future.
 * Then it drops fewer rows than are counted here.
 * @param body the query of a materialized view, whose newest row will be that of the view
 */
export function printExpiredQuestion(
  { name, timestamp = '', partitionBy = ASSUMED_PARTITION, ...retention }: RetainedObject,
  body?: string,
): string {
  const ttl = retentionAgeOf(retention);
  const [unit, time] = [`'${LETTERS[partitionBy]}'`, doubleQuote(timestamp)];
  // The table may have a column `newest`, so each name is qualified with `stored` or `recent`.
  const end = `dateadd(${unit}, 1, timestamp_floor(${unit}, stored.${time}))`;
  const age = `datediff('${ttl < 0 ? 'M' : 'h'}', ${end}, recent.newest) >= ${Math.abs(ttl)}`;
  const newest = `SELECT max(${time}) newest FROM ${body === undefined ? quoteLiteral(name) : `(\n${body}\n)`}`;
  return `SELECT count() FROM ${quoteLiteral(name)} stored CROSS JOIN (${newest}) recent WHERE ${end} <= recent.newest AND ${age}`;
}

const START =
  /^SELECT count\(\) = 0 AS none_expire FROM '([^']+)' stored CROSS JOIN \(SELECT max\("([^"]+)"\) newest FROM /;
const END =
  /^ recent WHERE dateadd\('(\w)', 1, timestamp_floor\('\w', stored\."[^"]+"\)\) <= recent\.newest AND datediff\('([Mh])', .+ >= (\d+);$/;

/** Matches only the start and the end, because the text may be long. The caller prints the question again, and compares the texts. */
export function parseExpired(text: string): { retained: RetainedObject; body: string | undefined } | undefined {
  const [start = '', name, timestamp] = START.exec(text) ?? [];
  const where = text.lastIndexOf(" recent WHERE dateadd('");
  const [, letter, age, length] = END.exec(text.slice(where)) ?? [];
  const partitionBy = (Object.keys(LETTERS) as (keyof typeof LETTERS)[]).find(unit => LETTERS[unit] === letter);
  if (name === undefined || partitionBy === undefined) return undefined;
  const source = text.slice(start.length, where);
  const body = source.startsWith('(\n') ? source.slice('(\n'.length, -'\n))'.length) : undefined;
  return { retained: { name, timestamp, partitionBy, ttl: Number(length) * (age === 'M' ? -1 : 1) }, body };
}
