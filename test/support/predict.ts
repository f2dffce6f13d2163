/*! Makes one random change on a real server, and compares the views that it invalidates with the prediction. */
import { strict as assert } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import type { TableDefinition } from '@sqlpipe/ddl';
import { RejectionError } from '@sqlpipe/ddl/parser';
import { isNotExecutable, whenReady } from '@sqlpipe/engine';
import { isFailureOnRow } from '@sqlpipe/schema';
import { identify, NameSet } from '@sqlpipe/sql';
import { isSuspended, waitUntilApplied, waitUntilIdle, waitUntilTrue } from './background.js';
import { engineWith } from './plans.js';
import { fill } from './reconcile.js';
import { randomness, schemaPair } from './schema-pairs.js';
import { execute, type Server } from './server.js';

/** A change, the views that it was predicted to invalidate, and the views that it invalidated. */
export interface Prediction {
  readonly change: string;
  readonly predicted: ReadonlySet<string>;
  readonly invalid: ReadonlySet<string>;
}

/**
 * Creates the schema of a seed with rows, predicts the effect of a change, and sends the change. Returns undefined if the
 * server rejects the change, or suspends the table over it.
 */
export async function predict(server: Server, seed: number): Promise<Prediction | undefined> {
  const { before, tables } = schemaPair(seed);
  await server.dropAll();
  for (const statement of before) await execute(server, statement);
  for (const table of tables) await fill(server, table);
  const random = randomness(seed ^ 0x5eed);
  const table = random.pick(tables);
  const columns = table.columns.filter(({ name }) => name !== 'ts');
  const column = random.pick(columns)?.name ?? 'ts';
  const views = before.flatMap(statement => /^CREATE VIEW '([^']+)'/.exec(statement)?.[1] ?? []);
  const view = random.pick(views) ?? 'none';
  const change = random.pick([
    `ALTER TABLE '${table.name}' DROP COLUMN "${column}"`,
    `ALTER TABLE '${table.name}' DROP COLUMN "${column}"`,
    `ALTER TABLE '${table.name}' RENAME COLUMN "${column}" TO renamed`,
    `ALTER TABLE '${table.name}' RENAME COLUMN "${column}" TO renamed`,
    `ALTER TABLE '${table.name}' ALTER COLUMN "${column}" TYPE ${random.pick(['LONG', 'VARCHAR', 'DOUBLE'])}`,
    `ALTER TABLE '${table.name}' ADD COLUMN added INT`,
    `ALTER TABLE '${table.name}' ALTER COLUMN "${column}" ADD INDEX`,
    `ALTER TABLE '${table.name}' ALTER COLUMN "${column}" NOCACHE`,
    `ALTER TABLE '${table.name}' DEDUP ENABLE UPSERT KEYS(ts)`,
    `ALTER TABLE '${table.name}' SET TTL 1 YEAR`,
    `RENAME TABLE '${table.name}' TO 'somewhere else'`,
    `DROP TABLE '${table.name}'`,
    `TRUNCATE TABLE '${table.name}'`,
    `DROP VIEW '${view}'`,
    `ALTER VIEW '${view}' AS (select ts from '${table.name}')`,
  ]);
  await waitUntilIdle(server);
  await waitUntilNoticed(server);
  const neverRefreshed = await queryNames(server, 'materialized_views() WHERE last_refresh_finish_timestamp IS NULL');
  const invalidBefore = await findInvalid(server);
  const engine = engineWith(before, { health: { neverRefreshed: new NameSet(neverRefreshed) } });
  const execution = await whenReady(() => engine.execute(`${change};`)).catch((error: unknown) => {
    if (isNotExecutable(error)) return error;
    throw error;
  });
  const { error } = await server.execute(change);
  if (error !== undefined) return undefined;
  assert.ok(
    !(execution instanceof RejectionError),
    `seed ${seed}: ${change}: rejected only by the engine: ${execution}`,
  );
  const effects = execution instanceof Error ? [] : execution.effects;
  const predicted = effects.flatMap(({ type, object }) => (type === 'invalidated' ? [object] : []));
  await waitUntilApplied(server);
  if (await isSuspended(server, table.name)) return undefined;
  await refreshViews(server, tables, before);
  await waitUntilNoticed(server);
  const invalidAfter = await findInvalid(server);
  return {
    change: `seed ${seed}: ${change}`,
    predicted: new Set(predicted),
    invalid: new NameSet([...invalidAfter].filter(name => !invalidBefore.has(name))),
  };
}

/**
 * Writes a row to each table that the change has left, and refreshes each materialized view. Only then does the server notice that it
 * cannot compute a view whose query the change has broken (observed on 9.3.4). The engine predicts this at once.
 */
async function refreshViews(server: Server, tables: readonly TableDefinition[], before: readonly string[]) {
  for (const { name } of tables) await server.execute(`INSERT INTO '${name}' (ts) VALUES ('2024-03-01')`);
  await waitUntilApplied(server);
  for (const { kind, name } of before.map(identify))
    if (kind === 'materialized view') await server.execute(`REFRESH MATERIALIZED VIEW '${name}' INCREMENTAL`);
  await waitUntilIdle(server);
}

/** Waits until the server has noticed which views are invalid. It does so in turn: then it has noticed another one too. */
async function waitUntilNoticed(server: Server): Promise<void> {
  await execute(server, 'CREATE TABLE probe (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY WAL');
  const query = 'SELECT ts, sum(x) n FROM probe SAMPLE BY 1h';
  await execute(server, `CREATE MATERIALIZED VIEW probed AS (${query}) PARTITION BY DAY`);
  await execute(server, 'ALTER TABLE probe DROP COLUMN x');
  await waitUntilTrue(server, "SELECT view_status = 'invalid' FROM materialized_views() WHERE view_name = 'probed'");
  for (const dropped of ['MATERIALIZED VIEW probed', 'TABLE probe']) await execute(server, `DROP ${dropped}`);
}

/**
 * Finds the views that the server reports as invalid, and the views that cannot be queried: the server does not notice
 * that a view over a table without WAL is invalid (observed on 9.3.4). So are materialized views whose queries give other types by now:
 * a refresh stores NULL in their columns, or leaves them empty.
 */
async function findInvalid(server: Server): Promise<Set<string>> {
  const found = await queryNames(server, "materialized_views() WHERE view_status = 'invalid'");
  for (const [name, query] of await execute(server, 'SELECT view_name, view_sql FROM materialized_views()'))
    if (!(await hasTypesOf(server, String(name), String(query)))) found.add(String(name));
  for (const [name, status] of await execute(server, 'SELECT view_name, view_status FROM views()'))
    if (status === 'invalid' || (await isBroken(server, String(name)))) found.add(String(name));
  return found;
}

/** Whether a plain view cannot be queried, whatever rows it reads. */
async function isBroken(server: Server, view: string): Promise<boolean> {
  const { error } = await server.execute(`SELECT * FROM '${view}' LIMIT 1`);
  return error !== undefined && !isFailureOnRow(error);
}

/** Whether a query gives columns of the same types as a view. True if the server rejects one of them. */
async function hasTypesOf(server: Server, view: string, query: string): Promise<boolean> {
  const replies = await Promise.all(
    [`'${view}'`, `(${query})`].map(each => server.execute(`SELECT * FROM ${each} LIMIT 0`)),
  );
  const [stored, given] = replies.map(({ columns }) => columns?.map(({ type }) => type));
  return !stored || !given || isDeepStrictEqual(stored, given);
}

const queryNames = async (server: Server, list: string): Promise<Set<string>> =>
  new Set((await execute(server, `SELECT view_name FROM ${list}`)).map(([name]) => String(name)));
