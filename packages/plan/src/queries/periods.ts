/*!
 * Prints questions about rows in a period that has not ended, such as today in a view with `PERIOD (LENGTH 1d)`. A full refresh ends with
 * the last complete period, and removes later rows. Only a refresh of a range computes these (observed on 9.3.4).
 */
import { doubleQuote, type MaterializedViewDefinition, type Refresh } from '@sqlpipe/ddl';
import { quoteLiteral } from '@sqlpipe/sql';

/** A view with its name in B, where its rows are counted, and with the periods of its next refresh. */
export type PeriodHolder = Pick<MaterializedViewDefinition, 'name' | 'timestamp'> & {
  readonly refresh: Pick<Refresh, 'period' | 'timeZone'>;
};

export const printUnendedQuestion = (view: PeriodHolder): string => printUnended('count()', view);

/** Also asks for the times of the first and the last row. sqlserve recognizes the question by the names of its columns. */
export const printUnendedRange = (view: PeriodHolder): string => {
  const time = doubleQuote(view.timestamp ?? '');
  return printUnended(`count() rows_lost, min(${time}) first_lost, max(${time}) last_lost`, view);
};

/** Subtracts the delay, although 9.3.4 does not. So the end may be too early, and rows are counted that a refresh computes. */
function printUnended(items: string, { name, timestamp = '', refresh: { period, timeZone } }: PeriodHolder): string {
  const { length = '', delay: wait = '' } = period === 'sample by interval' ? {} : (period ?? {});
  const [, delay = '0', unit = 'h'] = /^(\d+)(\w)$/.exec(wait) ?? [];
  const now = `dateadd('${unit}', -${delay}, now())`;
  const floorOf = (time: string) => `timestamp_floor(${quoteLiteral(length)}, ${time})`;
  const zone = timeZone === undefined ? undefined : quoteLiteral(timeZone);
  const end = zone ? `to_utc(${floorOf(`to_timezone(${now}, ${zone})`)}, ${zone})` : floorOf(now);
  return `SELECT ${items} FROM ${quoteLiteral(name)} WHERE ${doubleQuote(timestamp)} >= ${end}`;
}
