/*! One random change on a real server: which views and materialized views it invalidates, and which were predicted. */
import { setTimeout as pause } from 'node:timers/promises';
import { ImpactAnalyzer, SchemaState } from '@sqlpipe/schema';
import { applied, execute, fill } from './reconcile.js';
import { randomness, schemaPair } from './schema-pairs.js';
import type { Server } from './server.js';

/** What was predicted of a change, and what came. */
export interface Prediction {
  readonly change: string;
  readonly predicted: ReadonlySet<string>;
  readonly invalid: ReadonlySet<string>;
}

/** Milliseconds in which a server notices what has become of views; it does so by itself. */
const SETTLED = 600;

/** Makes the schema of a seed, with rows, predicts what a change of it does, and sends that. Undefined where the server rejects it. */
export async function predict(server: Server, seed: number): Promise<Prediction | undefined> {
  const { before, tables } = schemaPair(seed);
  await server.empty();
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
  await pause(SETTLED);
  const neverRefreshed = await names(server, 'materialized_views() WHERE last_refresh_finish_timestamp IS NULL');
  const earlier = await invalid(server);
  const impact = new ImpactAnalyzer(new SchemaState(before), { neverRefreshed });
  const predicted = impact.apply(`${change};`).flatMap(({ effect, object }) => (effect === 'invalid' ? [object] : []));
  if ((await server.execute(change)).error !== undefined) return undefined;
  for (const { name } of [...tables, { name: 'somewhere else' }]) await applied(server, name);
  await pause(SETTLED);
  const now = await invalid(server);
  return {
    change: `seed ${seed}: ${change}`,
    predicted: new Set(predicted),
    invalid: new Set([...now].filter(name => !earlier.has(name))),
  };
}

/** Those that the server calls invalid, and views that give nothing: of tables without WAL it does not notice (observed on 9.3.4). */
async function invalid(server: Server): Promise<Set<string>> {
  const found = await names(server, "materialized_views() WHERE view_status = 'invalid'");
  for (const [name, status] of await execute(server, 'SELECT view_name, view_status FROM views()'))
    if (status === 'invalid' || (await server.execute(`SELECT * FROM '${name}' LIMIT 1`)).error !== undefined)
      found.add(String(name));
  return found;
}

const names = async (server: Server, list: string): Promise<Set<string>> =>
  new Set((await execute(server, `SELECT view_name FROM ${list}`)).map(([name]) => String(name)));
