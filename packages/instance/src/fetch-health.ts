import { setTimeout as pause } from 'node:timers/promises';
import type { Health } from '@sqlpipe/schema';
import {
  foldCase,
  isSameName,
  type Kind,
  NameMap,
  NameSet,
  quoteLiteral,
  significantTokens,
  unquote,
} from '@sqlpipe/sql';
import { queryIfAccepted } from './best-effort-client.js';
import type { Instance } from './instance.js';

type RunQuery = (query: string) => Promise<unknown[][] | undefined>;

/** Fetches the health of all objects, as far as the instance shows it. @throws InstanceError if it does not reply */
export async function fetchHealth(instance: Instance): Promise<Health> {
  const query: RunQuery = sql => queryIfAccepted(instance, sql);
  const views =
    (await query('SELECT view_name, view_status, last_refresh_finish_timestamp FROM materialized_views()')) ?? [];
  const columns = new NameMap<readonly ViewColumn[]>();
  for (const [name, status] of views)
    if (status === 'invalid') columns.set(String(name), (await fetchViewColumns(instance, String(name))) ?? []);
  const [neverRefreshed, partlyRefreshed] = [new NameSet(), new NameSet()];
  for (const [name, , finished] of views) {
    // A refresh of a range has no finish time.
    const rows = finished === null ? await query(`SELECT 1 FROM ${quoteLiteral(String(name))} LIMIT 1`) : undefined;
    if (rows) (rows.length === 0 ? neverRefreshed : partlyRefreshed).add(String(name));
  }
  return {
    invalid: new NameMap(await fetchInvalidViews(query)),
    columns,
    neverRefreshed,
    partlyRefreshed,
    suspended: new NameMap(await fetchSuspended(query)),
  };
}

/** The catalogue functions that list views, by kind (observed on 9.3.4; the last one is of QuestDB 10). */
export const VIEW_LISTS = new Map<Kind, string>([
  ['view', 'views()'],
  ['materialized view', 'materialized_views()'],
  ['live view', 'live_views()'],
]);

/** The reasons of invalid views, by name. @param lists functions that list views */
export async function fetchInvalidViews(
  query: RunQuery,
  lists: Iterable<string> = VIEW_LISTS.values(),
): Promise<Map<string, string>> {
  const invalid = new Map<string, string>();
  for (const list of lists) {
    const rows = await query(`SELECT view_name, invalidation_reason FROM ${list} WHERE view_status = 'invalid'`);
    for (const [name, reason] of rows ?? []) invalid.set(String(name), String(reason ?? 'no reason given'));
  }
  return invalid;
}

/** The errors of tables and views whose changes the instance does not apply, by name. */
export async function fetchSuspended(query: RunQuery): Promise<Map<string, string>> {
  const rows = await query('SELECT name, errorMessage FROM wal_tables() WHERE suspended');
  return new Map((rows ?? []).map(([name, error]) => [String(name), String(error || 'no reason given')]));
}

export interface ViewColumn {
  readonly name: string;
  readonly type: string;
  readonly designated: boolean;
}

/** The columns of a view; undefined if the instance does not show them. */
export async function fetchViewColumns(instance: Instance, view: string): Promise<ViewColumn[] | undefined> {
  const query = `SELECT "column", type, designated FROM table_columns(${quoteLiteral(view)})`;
  const rows = await queryIfAccepted(instance, query);
  return rows?.map(([name, type, designated]) => ({
    name: String(name),
    type: String(type),
    designated: designated === true,
  }));
}

/** Whether a view is invalid because its base has changed, and not because its query failed (observed on 9.3.4). */
export const isChangeOfBase = (reason: string): boolean =>
  / operation$|^base (?:table|materialized view) is /.test(reason);

type WalState = 'applied' | 'pending' | 'suspended';

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

/** A materialized view that is being refreshed in full, as far as the instance shows it. */
export interface RunningRefresh {
  readonly view: string;
  /** Whether its query runs, or its rows are being written. After a refresh for a range, a server lists a view as refreshing for ever. */
  readonly isActive: boolean;
}

/**
 * Finds the refreshes that run, among the materialized views that a text names and those that these read. While a view is filled for the
 * first time, or in full, no transaction of its base counts as read (observed on 9.3.4).
 */
export async function fetchRunningRefreshes(instance: Instance, text: string): Promise<RunningRefresh[]> {
  const columns = 'view_name, view_sql, base_table_name, view_status, refresh_base_table_txn';
  const stored = (await queryIfAccepted(instance, `SELECT ${columns} FROM materialized_views()`)) ?? [];
  const isRunning = ([, , , status, txn]: unknown[]) => status === 'refreshing' && Number(txn) < 0;
  if (!stored.some(isRunning)) return [];
  const plain = (await queryIfAccepted(instance, 'SELECT view_name, view_sql FROM views()')) ?? [];
  const unseen = new NameMap([...plain, ...stored].map(row => [String(row[0]), row]));
  const found: unknown[][] = [];
  for (const texts = [text]; texts.length > 0; )
    for (const token of significantTokens(texts.pop() as string)) {
      const name = unquote(token.text);
      const row = unseen.get(name);
      if (!row) continue;
      unseen.delete(name);
      texts.push(String(row[1]), quoteLiteral(String(row[2] ?? '')));
      if (isRunning(row)) found.push(row);
    }
  const active = new Set((await queryIfAccepted(instance, 'SELECT query FROM query_activity()'))?.map(([sql]) => sql));
  const refreshes: RunningRefresh[] = [];
  for (const [view, sql] of found) {
    const name = String(view);
    const isActive = active.has(sql) || (await fetchWalState(instance, name)) === 'pending';
    refreshes.push({ view: name, isActive });
  }
  return refreshes;
}

/**
 * Fetches the state of a materialized view and its base, if the view is settled: it has all rows of its base, is not refreshed
 * immediately, or is invalid while no view is refreshed. Two equal states mean that the view did not change in between.
 */
async function fetchSettledState(instance: Instance, view: string): Promise<string | undefined> {
  const columns = 'view_name, view_status, refresh_type, refresh_base_table_txn, base_table_txn';
  const views = (await queryIfAccepted(instance, `SELECT ${columns} FROM materialized_views()`)) ?? [];
  const row = views.find(([name]) => isSameName(String(name), view)) ?? [];
  const [, status, type, refreshed, base] = row;
  const isQuiet = status === 'invalid' && views.every(([, other]) => other !== 'refreshing');
  const isSettled = isQuiet || (status === 'valid' && (type !== 'immediate' || refreshed === base));
  return isSettled ? row.join(' ') : undefined;
}

/** Milliseconds within which a refresh must have read the latest rows of the base at least once. */
const CATCH_UP = 5000;

const PAUSE = 10;

/**
 * Asks until the answer is final, can no longer change, or the time is up: a materialized view lags behind its base for moments.
 * @param view the view that the question is about, if it is about one
 */
export async function askUntilSettled<T>(
  instance: Instance,
  view: string | undefined,
  ask: () => Promise<T>,
  isFinal: (answer: T) => boolean,
  { timeout = 0, interrupted }: { readonly timeout?: number; readonly interrupted?: AbortSignal } = {},
): Promise<T> {
  const end = performance.now() + Math.min(timeout || CATCH_UP, CATCH_UP);
  for (;;) {
    const before = view && (await fetchSettledState(instance, view));
    const answer = await ask();
    if (isFinal(answer)) return answer;
    const isSettled = view && before !== undefined && before === (await fetchSettledState(instance, view));
    if (isSettled || performance.now() > end || interrupted?.aborted) return answer;
    await pause(PAUSE);
  }
}
