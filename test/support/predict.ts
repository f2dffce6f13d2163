/*! Makes one random change on a real server, and compares the views that it invalidates with the prediction. */
import { setTimeout as pause } from 'node:timers/promises';
import { whenReady } from '@sqlpipe/engine';
import { engineWith } from './plans.js';
import { execute, fill, waitUntilApplied } from './reconcile.js';
import { randomness, schemaPair } from './schema-pairs.js';
import type { Server } from './server.js';

/** A change, the views that it was predicted to invalidate, and the views that it invalidated. */
export interface Prediction {
  readonly change: string;
  readonly predicted: ReadonlySet<string>;
  readonly invalid: ReadonlySet<string>;
}

/** How long to wait until the server has noticed, in the background, that views have become invalid. */
const SETTLE_MS = 600;

/**
 * Creates the schema of a seed with rows, predicts the effect of a change, and sends the change. Returns undefined if the
 * server rejects the change.
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
  await pause(SETTLE_MS);
  const neverRefreshed = await queryNames(server, 'materialized_views() WHERE last_refresh_finish_timestamp IS NULL');
  const invalidBefore = await findInvalid(server);
  const engine = engineWith(before, { health: { neverRefreshed } });
  const { effects } = await whenReady(() => engine.execute(`${change};`)).catch(() => ({ effects: [] }));
  const predicted = effects.flatMap(({ effect, object }) => (effect === 'invalidated' ? [object] : []));
  if ((await server.execute(change)).error !== undefined) return undefined;
  for (const { name } of [...tables, { name: 'somewhere else' }]) await waitUntilApplied(server, name);
  await pause(SETTLE_MS);
  const invalidAfter = await findInvalid(server);
  return {
    change: `seed ${seed}: ${change}`,
    predicted: new Set(predicted),
    invalid: new Set([...invalidAfter].filter(name => !invalidBefore.has(name))),
  };
}

/**
 * Finds the views that the server reports as invalid, and the views that cannot be queried: the server does not notice
 * that a view over a table without WAL is invalid (observed on 9.3.4).
 */
async function findInvalid(server: Server): Promise<Set<string>> {
  const found = await queryNames(server, "materialized_views() WHERE view_status = 'invalid'");
  for (const [name, status] of await execute(server, 'SELECT view_name, view_status FROM views()'))
    if (status === 'invalid' || (await server.execute(`SELECT * FROM '${name}' LIMIT 1`)).error !== undefined)
      found.add(String(name));
  return found;
}

const queryNames = async (server: Server, list: string): Promise<Set<string>> =>
  new Set((await execute(server, `SELECT view_name FROM ${list}`)).map(([name]) => String(name)));
