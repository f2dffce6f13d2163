/*! A schema with rows, and one that it is changed to: with renames, other types, indexes and keys, and views over all of it. */
import { waitUntilRefreshed } from './background.js';
import { inProcess, type Run } from './in-process.js';
import { ROWS } from './reconcile.js';
import type { Scope } from './scope.js';
import { execute, type Server } from './server.js';

export const LEDGER = {
  before: `CREATE TABLE ledger (ts TIMESTAMP, acc SYMBOL INDEX CAPACITY 64, qty INT, note VARCHAR, x LONG, y LONG) timestamp(ts) PARTITION BY DAY DEDUP UPSERT KEYS(ts,acc);
CREATE VIEW quantities AS (select ts, qty from ledger);
CREATE MATERIALIZED VIEW hourly WITH BASE ledger AS (select ts, sum(x) n from ledger sample by 1h) PARTITION BY DAY;`,
  after: `CREATE TABLE ledger (ts TIMESTAMP, acc SYMBOL NOCACHE INDEX CAPACITY 256, quantity LONG, remark VARCHAR, x LONG, y VARCHAR, region SYMBOL) timestamp(ts) PARTITION BY DAY DEDUP UPSERT KEYS(ts,acc,region);
CREATE VIEW quantities AS (select ts, quantity, region from ledger);
CREATE MATERIALIZED VIEW hourly WITH BASE ledger AS (select ts, sum(x) n from ledger sample by 1h) PARTITION BY DAY;
CREATE VIEW remarks AS (select remark from ledger);`,
};
export const RENAMED = '--renamed ledger.qty=quantity --renamed ledger.note=remark';

/** Creates the ledger with rows, and waits until its view has them too. */
export async function makeLedger(server: Server): Promise<void> {
  for (const statement of LEDGER.before.split('\n')) await execute(server, statement);
  await execute(
    server,
    `INSERT INTO ledger SELECT timestamp_sequence('2024-01-01', 3600000000), 'a', x::int, 'n', x, x FROM long_sequence(${ROWS})`,
  );
  await waitUntilRefreshed(server);
}

export const shellWithFiles = (scope: Scope, { url }: Server, files: Record<string, string>): Promise<Run> =>
  inProcess(scope, { DB: url }, files);
