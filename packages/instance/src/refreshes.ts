/*! The progress of an instance's background work: refreshing materialized views, applying WAL. */
import { findSampling } from '@sqlpipe/ddl';
import { foldCase, quoteLiteral } from '@sqlpipe/sql';
import type { Instance } from './instance.js';
import { InstanceError } from './instance-error.js';

/** The states of an instance's materialized views, by name in lower case. */
export interface RefreshStates {
  /** Views that were never refreshed. */
  readonly neverRefreshed: ReadonlySet<string>;
  /** Views that are no longer refreshed, because columns of their base or its name were changed. */
  readonly invalidated: ReadonlySet<string>;
  /** Views with rows for times for which their base has no rows any more: rebuilding the view would lose its rows. */
  readonly ahead: ReadonlySet<string>;
}

/** The states of the materialized views; empty if the instance does not show them. */
export async function fetchRefreshStates(instance: Instance): Promise<RefreshStates> {
  const columns =
    'view_name, base_table_name, view_status, invalidation_reason, last_refresh_finish_timestamp, view_sql';
  const rows = (await queryIfAccepted(instance, `SELECT ${columns} FROM materialized_views()`)) ?? [];
  const names = (isWanted: (row: unknown[]) => boolean) =>
    new Set(rows.filter(isWanted).map(([name]) => foldCase(String(name))));
  const views = rows.map(([name, base, , , , query]) => [name, base, query].map(String) as [string, string, string]);
  return {
    neverRefreshed: names(([, , , , finished]) => finished === null),
    invalidated: names(([, , status, reason]) => status === 'invalid' && CHANGES_OF_COLUMNS.test(String(reason ?? ''))),
    ahead: await findAhead(instance, views),
  };
}

/**
 * Reasons for being invalid that the changes of a plan cause. Dropped partitions are not among them (observed on
 * 9.3.4).
 */
const CHANGES_OF_COLUMNS =
  /^(?:drop column|rename column|change column type) operation$|^base (?:table|materialized view) is /;

/** The views whose rows begin before the first sampling interval of their base. */
async function findAhead(
  instance: Instance,
  views: readonly [name: string, base: string, query: string][],
): Promise<Set<string>> {
  if (views.length === 0) return new Set();
  const tables = (await queryIfAccepted(instance, 'SELECT table_name, designatedTimestamp FROM tables()')) ?? [];
  const timestamps = new Map(tables.map(([name, timestamp]) => [foldCase(String(name)), String(timestamp ?? '')]));
  const ahead = new Set<string>();
  for (const [name, base, query] of views) {
    const [first, firstOfBase] = [
      await fetchFirstTime(instance, name, timestamps),
      await fetchFirstTime(instance, base, timestamps),
    ];
    if (first === undefined) continue;
    if (firstOfBase === undefined || first < firstOfBase - samplingMicros(query)) ahead.add(foldCase(name));
  }
  return ahead;
}

/** The time of the first row in microseconds; undefined if there is no row. */
async function fetchFirstTime(
  instance: Instance,
  table: string,
  timestamps: ReadonlyMap<string, string>,
): Promise<number | undefined> {
  const timestamp = timestamps.get(foldCase(table));
  if (!timestamp) return undefined;
  const query = `SELECT cast(cast(min("${timestamp}") AS timestamp) AS long) FROM ${quoteLiteral(table)}`;
  const [[first] = []] = (await queryIfAccepted(instance, query)) ?? [];
  return typeof first === 'number' ? first : undefined;
}

const MICROS: Readonly<Record<string, number>> = {
  s: 1e6,
  m: 6e7,
  h: 3.6e9,
  d: 8.64e10,
  w: 6.048e11,
  M: 2.6784e12,
  y: 3.16224e13,
};

/** The maximum length of the interval that a query samples by; 0 if it is less than a second, or not known. */
function samplingMicros(query: string): number {
  const { interval = '' } = findSampling(query) ?? {};
  return Number.parseInt(interval, 10) * (MICROS[interval.slice(-1)] ?? 0) || 0;
}

/** Whether a reason for being invalid is a change of the base, and not a failed query (observed on 9.3.4). */
export const isChangeOfBase = (reason: string): boolean =>
  / operation$|^base (?:table|materialized view) is /.test(reason);

/** The rows of a query; undefined if the instance rejects it, because not every version supports it. */
async function queryIfAccepted(instance: Instance, query: string): Promise<unknown[][] | undefined> {
  try {
    return await instance.table(query);
  } catch (error) {
    if (error instanceof InstanceError && error.serverMessage !== undefined) return undefined;
    throw error;
  }
}

/** Whether everything that was sent to a WAL table or a materialized view has been applied. */
export type WalState = 'applied' | 'pending' | 'suspended';

/** The state of a table. Without WAL, or if the instance does not show the state, there is nothing to apply. */
export async function fetchWalState(instance: Instance, table: string): Promise<WalState> {
  const query = `SELECT writerTxn, sequencerTxn, suspended FROM wal_tables() WHERE lower(name) = ${quoteLiteral(foldCase(table))}`;
  const [row] = (await queryIfAccepted(instance, query)) ?? [];
  if (!row) return 'applied';
  const [writer, sequencer, suspended] = row;
  if (suspended === true) return 'suspended';
  return Number(writer) >= Number(sequencer) ? 'applied' : 'pending';
}

/** The state that an instance reports for a materialized view. */
export interface RefreshState {
  readonly status: string;
  readonly reason: string | undefined;
  /** When the last refresh started and ended, as the instance prints the times. */
  readonly started: string;
  readonly finished: string;
}

/** The state of a materialized view; undefined if there is no such view, or the instance does not show it. */
export async function fetchRefreshState(instance: Instance, view: string): Promise<RefreshState | undefined> {
  const columns = 'view_status, invalidation_reason, last_refresh_start_timestamp, last_refresh_finish_timestamp';
  const query = `SELECT ${columns} FROM materialized_views() WHERE lower(view_name) = ${quoteLiteral(foldCase(view))}`;
  const [row] = (await queryIfAccepted(instance, query)) ?? [];
  if (!row) return undefined;
  const [status, reason, started, finished] = row.map(cell => String(cell ?? ''));
  return { status: status ?? '', reason: reason || undefined, started: started ?? '', finished: finished ?? '' };
}
