/*! The progress of an instance's background work: refreshing materialized views, applying WAL. */
import { foldCase, quoteLiteral } from '@sqlpipe/sql';
import { queryIfAccepted } from './fetch-health.js';
import type { Instance } from './instance.js';

/** Whether a reason for being invalid is a change of the base, and not a failed query (observed on 9.3.4). */
export const isChangeOfBase = (reason: string): boolean =>
  / operation$|^base (?:table|materialized view) is /.test(reason);

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

/**
 * A mark of what a materialized view and its base hold, if the view takes in nothing more by itself as long as the mark is the
 * same: it has all rows of its base, is invalid, or is refreshed by hand or by a timer. Undefined if it may take in something, or
 * the instance does not show it.
 */
export async function fetchSettledState(instance: Instance, view: string): Promise<string | undefined> {
  const columns = 'view_status, refresh_type, refresh_base_table_txn, base_table_txn';
  const query = `SELECT ${columns} FROM materialized_views() WHERE lower(view_name) = ${quoteLiteral(foldCase(view))}`;
  const [row] = (await queryIfAccepted(instance, query)) ?? [];
  if (!row) return undefined;
  const [status, type, refreshed, base] = row;
  const isSettled = status === 'invalid' || (status === 'valid' && (type !== 'immediate' || refreshed === base));
  return isSettled ? row.join(' ') : undefined;
}
