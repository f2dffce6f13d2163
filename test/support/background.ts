/*! Waits for what a server does in the background, but not for ever. */
import { setTimeout as pause } from 'node:timers/promises';
import { execute, type Server } from './server.js';

const LIMIT_MS = 300_000;
const POLL_MS = 10;

/**
 * Asks again until the answer is yes.
 * @param what what is waited for, for the message
 * @throws Error after five minutes, because a busy machine may starve a server
 */
export async function waitUntil(what: string, isSo: () => Promise<boolean>): Promise<void> {
  await waitUntilNone(async () => ((await isSo()) ? [] : [what]));
}

/**
 * Asks again until nothing is found.
 * @param about what a message says of the circumstances
 * @throws Error with what is still found after five minutes
 */
export async function waitUntilNone(find: () => Promise<readonly unknown[]>, about = ''): Promise<void> {
  for (const started = Date.now(); ; await pause(POLL_MS)) {
    const found = await find();
    if (found.length === 0) return;
    if (Date.now() - started > LIMIT_MS)
      throw new Error(`waited ${LIMIT_MS / 1000} s in vain: ${JSON.stringify(found)}\n${about}`);
  }
}

export const waitUntilTrue = (server: Server, query: string): Promise<void> =>
  waitUntil(query, async () => (await execute(server, query))[0]?.[0] === true);

/** Waits until all tables have applied what was sent to them, or are suspended. */
export const waitUntilApplied = (server: Server): Promise<void> =>
  waitUntilNone(() =>
    execute(server, 'SELECT name FROM wal_tables() WHERE writerTxn < sequencerTxn AND NOT suspended'),
  );

/** Waits until the changes of a table are applied. @returns whether it is suspended instead */
export async function settle(server: Server, table: string): Promise<boolean> {
  await waitUntilApplied(server);
  return isSuspended(server, table);
}

export const isSuspended = async (server: Server, table: string): Promise<boolean> =>
  (await execute(server, `SELECT suspended FROM wal_tables() WHERE name = '${table}'`))[0]?.[0] === true;

/** Waits until the materialized views that are not invalid have the rows that were sent to their bases. */
export async function waitUntilRefreshed(server: Server): Promise<void> {
  await waitUntilApplied(server); // what a base has not applied does not count
  await waitUntilNone(() =>
    execute(
      server,
      `SELECT view_name, refresh_base_table_txn, base_table_txn FROM materialized_views() WHERE view_status <> 'invalid'
       AND (last_refresh_finish_timestamp IS NULL OR refresh_base_table_txn <> base_table_txn)`,
    ),
  );
}

/** Waits until no materialized view is refreshed, or will be by itself. */
export const waitUntilIdle = (server: Server): Promise<void> =>
  waitUntilNone(() =>
    execute(
      server,
      `SELECT view_name, view_status FROM materialized_views() WHERE view_status = 'refreshing'
       OR (view_status = 'valid' AND refresh_type = 'immediate' AND refresh_base_table_txn <> base_table_txn)`,
    ),
  );

/** Waits until a materialized view is invalid: what makes it so is noticed later. */
export const waitUntilInvalid = (server: Server): Promise<void> =>
  waitUntilTrue(server, "SELECT count() > 0 FROM materialized_views() WHERE view_status = 'invalid'");

export const waitUntilValid = (server: Server, about = ''): Promise<void> =>
  waitUntilNone(
    () =>
      execute(
        server,
        `SELECT * FROM (SELECT view_name, view_status, invalidation_reason FROM views()
         UNION ALL SELECT view_name, view_status, invalidation_reason FROM materialized_views()) WHERE view_status <> 'valid'`,
      ),
    about,
  );

export const fetchBroken = async (server: Server): Promise<ReadonlyMap<string, string>> =>
  new Map(
    (await execute(
      server,
      `SELECT name, 'suspended' FROM wal_tables() WHERE suspended UNION ALL
       SELECT view_name, coalesce(invalidation_reason, 'invalid') FROM materialized_views() WHERE view_status = 'invalid'`,
    )) as [string, string][],
  );
