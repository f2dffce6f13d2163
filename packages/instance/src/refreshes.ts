/*! How far an instance has come with what it does by itself: refreshing materialized views, applying WAL. */
import { foldCase, quoteLiteral } from '@sqlpipe/sql';
import type { Instance } from './instance.js';
import { InstanceError } from './instance-error.js';

/** How the materialized views of an instance are, by name in lower case. */
export interface RefreshStates {
  /** Those that were never refreshed. */
  readonly neverRefreshed: ReadonlySet<string>;
  /** Those that are refreshed no more, as their base was changed. */
  readonly invalidated: ReadonlySet<string>;
}

/** How the materialized views are; nothing is known where the instance does not tell. */
export async function fetchRefreshStates(instance: Instance): Promise<RefreshStates> {
  const columns = 'view_name, view_status, invalidation_reason, last_refresh_finish_timestamp';
  const rows = (await askIfTold(instance, `SELECT ${columns} FROM materialized_views()`)) ?? [];
  const names = (isWanted: (row: unknown[]) => boolean) =>
    new Set(rows.filter(isWanted).map(([name]) => foldCase(String(name))));
  return {
    neverRefreshed: names(([, , , finished]) => finished === null),
    invalidated: names(([, status, reason]) => status === 'invalid' && isChangeOfBase(String(reason ?? ''))),
  };
}

/** Whether a reason for being invalid is a change of the base, and no query that fails (observed on 9.3.4). */
export const isChangeOfBase = (reason: string): boolean =>
  / operation$|^base (?:table|materialized view) is /.test(reason);

/** The answer; undefined where the instance rejects the question, as not every version tells. */
async function askIfTold(instance: Instance, query: string): Promise<unknown[][] | undefined> {
  try {
    return await instance.table(query);
  } catch (error) {
    if (error instanceof InstanceError && error.serverMessage !== undefined) return undefined;
    throw error;
  }
}

/** Whether all that was sent to a WAL table, or a materialized view, has been applied. */
export type WalState = 'applied' | 'pending' | 'suspended';

/** How far a table is; what is no WAL table, or of an instance that does not tell, has nothing to apply. */
export async function fetchWalState(instance: Instance, table: string): Promise<WalState> {
  const query = `SELECT writerTxn, sequencerTxn, suspended FROM wal_tables() WHERE lower(name) = ${quoteLiteral(foldCase(table))}`;
  const [row] = (await askIfTold(instance, query)) ?? [];
  if (!row) return 'applied';
  const [writer, sequencer, suspended] = row;
  if (suspended === true) return 'suspended';
  return Number(writer) >= Number(sequencer) ? 'applied' : 'pending';
}

/** What an instance says of a materialized view. */
export interface RefreshState {
  readonly status: string;
  readonly reason: string | undefined;
  /** When its last refresh started and ended, as the instance writes it. */
  readonly started: string;
  readonly finished: string;
}

/** How a materialized view is; undefined where there is none of the name, or the instance does not tell. */
export async function fetchRefreshState(instance: Instance, view: string): Promise<RefreshState | undefined> {
  const columns = 'view_status, invalidation_reason, last_refresh_start_timestamp, last_refresh_finish_timestamp';
  const query = `SELECT ${columns} FROM materialized_views() WHERE lower(view_name) = ${quoteLiteral(foldCase(view))}`;
  const [row] = (await askIfTold(instance, query)) ?? [];
  if (!row) return undefined;
  const [status, reason, started, finished] = row.map(cell => String(cell ?? ''));
  return { status: status ?? '', reason: reason || undefined, started: started ?? '', finished: finished ?? '' };
}
