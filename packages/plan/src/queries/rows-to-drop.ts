/*!
 * Prints questions about rows that a later statement makes the server drop (observed on 9.3.4):
 * - Rows that are older than the TTL and still stored: those of a partition that was attached, or of a view that was refreshed for a range
 *   only. The next write, refresh or SET TTL drops them.
 * - Rows of a view in a period that has not ended, such as today with `PERIOD (LENGTH 1d)`. A full refresh ends with the last complete
 *   period, and removes later rows. Only a refresh of a range computes these.
 */
import {
  ASSUMED_PARTITION,
  doubleQuote,
  type MaterializedViewDefinition,
  type Refresh,
  retentionAgeOf,
} from '@sqlpipe/ddl';
import { quoteLiteral } from '@sqlpipe/sql';

export type RetainedObject = Pick<MaterializedViewDefinition, 'name' | 'timestamp' | 'partitionBy'> &
  Parameters<typeof retentionAgeOf>[0];

/** Which rows of an object have expired. */
export interface ExpiryQuestion {
  readonly retained: RetainedObject;
  /** The query of a materialized view, whose newest row will be that of the view. */
  readonly body?: string | undefined;
}

const LETTERS = { HOUR: 'h', DAY: 'd', WEEK: 'w', MONTH: 'M', YEAR: 'y', NONE: 'y' } as const;

/**
 * A partition has expired if the time from its end to the newest row is at least the TTL. A server may ignore rows that lie in the future.
 * Then it drops fewer rows than are counted here.
 */
export function printExpiredQuestion({ retained, body }: ExpiryQuestion): string {
  const { name, timestamp = '', partitionBy = ASSUMED_PARTITION } = retained;
  const ttl = retentionAgeOf(retained);
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
export function parseExpired(text: string): ExpiryQuestion | undefined {
  const [start = '', name, timestamp] = START.exec(text) ?? [];
  const where = text.lastIndexOf(" recent WHERE dateadd('");
  const [, letter, age, length] = END.exec(text.slice(where)) ?? [];
  const partitionBy = (Object.keys(LETTERS) as (keyof typeof LETTERS)[]).find(unit => LETTERS[unit] === letter);
  if (name === undefined || partitionBy === undefined) return undefined;
  const source = text.slice(start.length, where);
  const body = source.startsWith('(\n') ? source.slice('(\n'.length, -'\n))'.length) : undefined;
  return { retained: { name, timestamp, partitionBy, ttl: Number(length) * (age === 'M' ? -1 : 1) }, body };
}

/** A view with its name in B, where its rows are counted, and with the periods of its next refresh. */
export type PeriodicView = Pick<MaterializedViewDefinition, 'name' | 'timestamp'> & {
  readonly refresh: Pick<Refresh, 'period' | 'timeZone'>;
};

/** Also asks for the times of the first and the last row. sqlserve recognizes the question by the names of its columns. */
export const printUnendedRange = (view: PeriodicView): string => {
  const time = doubleQuote(view.timestamp ?? '');
  return printUnendedQuestion(view, `count() rows_lost, min(${time}) first_lost, max(${time}) last_lost`);
};

/** Subtracts the delay, although 9.3.4 does not. So the end may be too early, and rows are counted that a refresh computes. */
export function printUnendedQuestion(view: PeriodicView, items = 'count()'): string {
  const { period, timeZone } = view.refresh;
  const { length = '', delay: wait = '' } = period === 'sample by interval' ? {} : (period ?? {});
  const [, delay = '0', unit = 'h'] = /^(\d+)(\w)$/.exec(wait) ?? [];
  const now = `dateadd('${unit}', -${delay}, now())`;
  const floorOf = (time: string) => `timestamp_floor(${quoteLiteral(length)}, ${time})`;
  const zone = timeZone === undefined ? undefined : quoteLiteral(timeZone);
  const end = zone ? `to_utc(${floorOf(`to_timezone(${now}, ${zone})`)}, ${zone})` : floorOf(now);
  return `SELECT ${items} FROM ${quoteLiteral(view.name)} WHERE ${doubleQuote(view.timestamp ?? '')} >= ${end}`;
}
