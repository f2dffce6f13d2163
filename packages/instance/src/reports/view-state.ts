import { setTimeout as pause } from 'node:timers/promises';
import { foldCase, isSameName, NameMap, quoteLiteral, significantTokens, unquote } from '@sqlpipe/sql';
import type { Client } from '../http/client.js';
import { queryIfAccepted, tryIfSupported } from '../http/optional-queries.js';

/** How long to ask. */
export interface PollLimits {
  /** Milliseconds in total; 0 for no limit. */
  readonly timeout: number;
  readonly signal?: AbortSignal | undefined;
}

/** Milliseconds between two questions: the first pause and the longest one. */
const [FIRST_PAUSE, MAX_PAUSE] = [5, 500];

/** Asks with growing pauses until there is an answer. The result is undefined if the time is up, or the user interrupts the program. */
export async function poll<T>({ timeout, signal }: PollLimits, fetchAnswer: () => Promise<T | undefined>) {
  const end = timeout > 0 ? performance.now() + timeout : Number.POSITIVE_INFINITY;
  for (let delay = FIRST_PAUSE; ; delay = Math.min(2 * delay, MAX_PAUSE)) {
    const answer = await fetchAnswer();
    if (answer !== undefined || performance.now() > end || signal?.aborted) return answer;
    await pause(delay, undefined, { signal }).catch(() => {}); // an interruption ends it
  }
}

/** The state of a table. Without WAL there is nothing to apply. @throws InstanceError also if an instance with WAL rejects the query */
export async function fetchWalState(client: Client, table: string): Promise<'applied' | 'pending' | 'suspended'> {
  const query = `SELECT writerTxn, sequencerTxn, suspended FROM wal_tables() WHERE lower(name) = ${quoteLiteral(foldCase(table))}`;
  const [row] = (await tryIfSupported(client.queryRows(query))) ?? [];
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
export async function fetchRefreshState(client: Client, view: string): Promise<RefreshState | undefined> {
  const columns = 'view_status, invalidation_reason, last_refresh_start_timestamp, last_refresh_finish_timestamp';
  const query = `SELECT ${columns} FROM materialized_views() WHERE lower(view_name) = ${quoteLiteral(foldCase(view))}`;
  const [row] = (await queryIfAccepted(client, query)) ?? [];
  if (!row) return undefined;
  const [status, reason, started, finished] = row.map(cell => String(cell ?? ''));
  return { status: status ?? '', reason: reason || undefined, started: started ?? '', finished: finished ?? '' };
}

/** Whether the base of a materialized view is a materialized view too, as far as the instance shows it. */
export async function fetchHasStoredBase(client: Client, view: string): Promise<boolean> {
  const query = 'SELECT view_name, base_table_name FROM materialized_views()';
  const bases = new NameMap(
    (await queryIfAccepted(client, query))?.map(([name, base]) => [String(name), String(base)]),
  );
  return bases.has(bases.get(view) ?? '');
}

/**
 * Finds the materialized views that are being refreshed in full, among those that a text names and those that these read. While a view is
 * filled for the first time, or in full, no transaction of its base counts as read (observed on 9.3.4). A refresh is active if its query
 * runs, or its rows are being written: after a refresh for a range, a server lists a view as refreshing for ever.
 */
export async function fetchRunningRefreshes(client: Client, text: string) {
  const columns = 'view_name, view_sql, base_table_name, view_status, refresh_base_table_txn';
  const stored = (await queryIfAccepted(client, `SELECT ${columns} FROM materialized_views()`)) ?? [];
  const isRunning = ([, , , status, txn]: unknown[]) => status === 'refreshing' && Number(txn) < 0;
  if (!stored.some(isRunning)) return [];
  const plain = (await queryIfAccepted(client, 'SELECT view_name, view_sql FROM views()')) ?? [];
  const unseen = new NameMap([...plain, ...stored].map(row => [String(row[0]), row]));
  const active = new Set((await queryIfAccepted(client, 'SELECT query FROM query_activity()'))?.map(([sql]) => sql));
  const refreshes: { readonly view: string; readonly isActive: boolean }[] = [];
  for (const texts = [text]; texts.length > 0; )
    for (const token of significantTokens(texts.pop() as string)) {
      const name = unquote(token.text);
      const row = unseen.get(name);
      if (!row) continue;
      unseen.delete(name);
      texts.push(String(row[1]), quoteLiteral(String(row[2] ?? '')));
      if (!isRunning(row)) continue;
      const view = String(row[0]);
      const isActive = active.has(row[1]) || (await fetchWalState(client, view)) === 'pending';
      refreshes.push({ view, isActive });
    }
  return refreshes;
}

/**
 * Fetches the state of a materialized view and its base, if the view is settled. Two equal states mean that the view did not change in
 * between. A valid view is settled if it is not IMMEDIATE, or has all rows of its base. An invalid view, while no view is refreshed.
 */
async function fetchSettledState(client: Client, view: string): Promise<string | undefined> {
  const columns = 'view_name, view_status, refresh_type, refresh_base_table_txn, base_table_txn';
  const views = (await queryIfAccepted(client, `SELECT ${columns} FROM materialized_views()`)) ?? [];
  const row = views.find(([name]) => isSameName(String(name), view)) ?? [];
  const [, status, type, refreshed, base] = row;
  const isQuiet = status === 'invalid' && views.every(([, other]) => other !== 'refreshing');
  const isSettled = isQuiet || (status === 'valid' && (type !== 'immediate' || refreshed === base));
  return isSettled ? row.join(' ') : undefined;
}

/** Milliseconds within which a refresh must have read the latest rows of the base at least once. */
const CATCH_UP_TIME = 5000;

/**
 * A materialized view lags behind its base for moments. So this asks until the answer is final or can no longer change, or the time is up.
 * @param view the view that the question is about, if it is about one
 */
export async function pollUntilSettled<T>(
  client: Client,
  view: string | undefined,
  fetchAnswer: () => Promise<T>,
  isFinal: (answer: T) => boolean,
  { timeout, signal }: PollLimits = { timeout: CATCH_UP_TIME },
): Promise<T> {
  let answer: T | undefined;
  await poll({ timeout: Math.min(timeout || CATCH_UP_TIME, CATCH_UP_TIME), signal }, async () => {
    const before = view && (await fetchSettledState(client, view));
    answer = await fetchAnswer();
    if (isFinal(answer)) return true;
    const isSettled = view && before !== undefined && before === (await fetchSettledState(client, view));
    return isSettled || undefined;
  });
  return answer as T;
}
