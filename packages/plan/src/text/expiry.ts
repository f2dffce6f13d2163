/*!
 * Rows that a table or a materialized view has although its TTL has expired them. A server drops them with the next write, refresh or SET
 * TTL (observed on 9.3.4): those of a partition that was attached, and those of a view that was refreshed for a range only.
 */
import type { MaterializedViewDefinition, TableDefinition } from '@sqlpipe/ddl';
import { doubleQuote } from './statement-text.js';

/** An object with a TTL. */
export type Retained = Pick<TableDefinition | MaterializedViewDefinition, 'name' | 'timestamp' | 'partitionBy' | 'ttl'>;

const UNITS = { HOUR: 'h', DAY: 'd', WEEK: 'w', MONTH: 'M', YEAR: 'y', NONE: 'y' } as const;

/**
 * The query for the number of these rows. A partition has expired if the newest row is as much later than its end as the TTL says. A
 * server may ignore rows of the future.
 * @param body the query of a materialized view: its newest row is that of the view then
 */
export function printExpiredQuestion(
  { name, timestamp = '', partitionBy = 'DAY', ttl }: Retained,
  body?: string,
): string {
  const [unit, time] = [`'${UNITS[partitionBy]}'`, doubleQuote(timestamp)];
  const end = `dateadd(${unit}, 1, timestamp_floor(${unit}, ${time}))`;
  const age = `datediff('${ttl < 0 ? 'M' : 'h'}', ${end}, newest) >= ${Math.abs(ttl)}`;
  const newest = `SELECT max(${time}) newest FROM ${body === undefined ? `'${name}'` : `(\n${body}\n)`}`;
  return `SELECT count() FROM '${name}' CROSS JOIN (${newest}) WHERE ${end} <= newest AND ${age}`;
}

const START = /^SELECT count\(\) = 0 AS none_expire FROM '([^']+)' CROSS JOIN \(SELECT max\("([^"]+)"\) newest FROM /;
const END =
  /^ WHERE dateadd\('(\w)', 1, timestamp_floor\('\w', "[^"]+"\)\) <= newest AND datediff\('([Mh])', .+ >= (\d+);$/;

/**
 * The question in an assertion: what it is about, and the query of a view. The text is untrusted and may be long, so only its start and
 * its end are matched. The caller compares it with what is printed for the question.
 */
export function parseExpired(text: string): { retained: Retained; body: string | undefined } | undefined {
  const [start = '', name, timestamp] = START.exec(text) ?? [];
  const at = text.lastIndexOf(" WHERE dateadd('");
  const [, letter, age, length] = END.exec(text.slice(at)) ?? [];
  const partitionBy = (Object.keys(UNITS) as (keyof typeof UNITS)[]).find(unit => UNITS[unit] === letter);
  if (name === undefined || partitionBy === undefined) return undefined;
  const source = text.slice(start.length, at);
  const body = source.startsWith('(\n') ? source.slice('(\n'.length, -'\n))'.length) : undefined;
  return { retained: { name, timestamp, partitionBy, ttl: Number(length) * (age === 'M' ? -1 : 1) }, body };
}
