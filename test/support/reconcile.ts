/*! Reconciles one random pair of schemas with rows on a real server, with `sqldiff --alter` and `sqlapply`. */
import { strict as assert } from 'node:assert';
import type { TableDefinition } from '@sqlpipe/ddl';
import { waitUntilApplied, waitUntilIdle, waitUntilNone } from './background.js';
import { type NewNames, takeHoldings, waitForHoldings } from './holdings.js';
import type { SchemaPair } from './schema-pairs.js';
import { execute, type Server } from './server.js';
import type { Outcome } from './shell.js';

/** Runs scripts with the built programs, all in the same folder. */
export type Run = (script: string) => Promise<Outcome>;

/** The result of reconciling a pair. */
export interface Reconciled {
  /** Whether no difference is left. */
  readonly isReconciled: boolean;
  /** What was left out although every loss was allowed, a message each. */
  readonly left: string[];
}

const VALUES: Record<string, string> = {
  INT: 'x::int',
  LONG: 'x * 1000000007',
  DOUBLE: 'x * 1.5',
  FLOAT: '(x * 0.5)::float',
  SHORT: 'x::short',
  SYMBOL: "rnd_symbol('p', 'q', null)",
  VARCHAR: "concat('v', x)::varchar",
  STRING: "concat('s', x)",
  BOOLEAN: 'x % 3 = 0',
  UUID: "'11111111-1111-1111-1111-111111111111'::uuid",
  TIMESTAMP: "timestamp_sequence('2020-01-01', 1000000)",
  'DECIMAL(10,2)': 'cast(x as decimal(10,2))',
};

export const ROWS = 40;

const hasValues = (type: string): boolean => type in VALUES;

/** The columns whose values are compared: those that are filled. */
const comparable = ({ columns }: TableDefinition): TableDefinition['columns'] =>
  columns.filter(({ type }) => hasValues(type));

/** Inserts rows into a table, over several days. */
export async function fill(
  server: Server,
  table: Pick<TableDefinition, 'name' | 'timestamp' | 'columns'>,
): Promise<void> {
  const filled = table.columns.filter(({ name, type }) => name === table.timestamp || hasValues(type));
  const values = filled.map(({ name, type }) =>
    name === table.timestamp ? "timestamp_sequence('2024-01-01', 9000000000)" : VALUES[type],
  );
  if (values.length === 0) return;
  const columns = filled.map(({ name }) => `"${name}"`).join(', ');
  await execute(
    server,
    `INSERT INTO '${table.name}' (${columns}) SELECT ${values.join(', ')} FROM long_sequence(${ROWS})`,
  );
  await waitUntilApplied(server);
}

/** The values of columns as text, sorted. */
async function valuesOf(server: Server, table: string, columns: readonly string[]): Promise<string[]> {
  const list = columns.map(name => `"${name}"::varchar`).join(', ');
  const rows = await execute(server, `SELECT ${list} FROM '${table}'`);
  return rows.map(row => JSON.stringify(row.map(normalizeNumber))).sort();
}

/** Converts numbers as text, so that `1` and `1.0` are equal. */
const normalizeNumber = (cell: unknown): unknown =>
  typeof cell === 'string' && /^-?\d+(\.\d+)?(E-?\d+)?$/.test(cell) ? Number(cell) : cell;

const columnNames = async (server: Server, table: string): Promise<string[] | undefined> =>
  (await server.execute(`SELECT "column" FROM table_columns('${table}')`)).dataset?.map(([name]) => String(name));

/** The values of each column of each table, by the name of the table in `before`. */
async function snapshot(server: Server, { tables }: SchemaPair): Promise<Map<string, string[][]>> {
  const found = new Map<string, string[][]>();
  for (const table of tables) {
    const { name } = table;
    const values: string[][] = [];
    for (const column of comparable(table)) values.push(await valuesOf(server, name, [column.name]));
    found.set(name, values);
  }
  return found;
}

/**
 * Creates schema B of a pair, then plans and applies the changes: first without any loss, then with every loss allowed.
 */
export async function reconcile(server: Server, run: Run, pair: SchemaPair, seed: number): Promise<Reconciled> {
  const about = `seed ${seed}: ${pair.changes.join(', ')}`;
  await server.dropAll();
  for (const statement of pair.before) await execute(server, statement);
  for (const table of pair.tables) await fill(server, table);
  const before = await snapshot(server, pair);
  await waitUntilIdle(server);
  const holdings = await takeHoldings(server);
  const ignore = "--ignore 'column order'";
  const options = [ignore, ...pair.renamed.map(each => `--renamed "${each}"`)].join(' ');
  const { url } = server;
  await run(`cat > after.sql <<'END'\n${pair.after.join('\n')}\nEND`);

  // A new view over a column whose new type is left out may fail to be filled, so that a later plan lists its repair.
  const lossless = await run(
    `sqldiff --alter ${options} after.sql ${url} > plan 2> left; echo $?; sqlapply --allow all ${url} < plan && sqldiff --alter ${options} after.sql ${url} > again 2> now; tr -d '\\n' < again; awk '/^sqldiff: / { skip = /left out: a repair/ } !skip' now > still; cmp left still; cat left`,
  );
  assert.equal(lossless.stderr, '', `${about}\n${lossless.stderr}`);
  const [status, ...lines] = lossless.stdout.toString().split('\n');
  assert.match(status ?? '', /^[01]$/, `${about}\n${lossless.stdout}`);
  assert.equal(lines[0]?.startsWith('\0'), true, `${about}: a second plan has statements\n${lossless.stdout}`);
  await checkNothingIsLost(server, pair, before, about);
  await waitForHoldings(server, holdings, newNames(pair), `${about}\n${lossless.stdout}`);

  if (status === '0') {
    await checkValid(server, about);
    return { isReconciled: true, left: [] };
  }
  const allowed = [...lossless.stdout.toString().matchAll(/--allow-loss ((?:"[^"]*"|\S)+)/g)].map(([option]) => option);
  const lossy = await run(
    `sqldiff --alter ${options} ${[...new Set(allowed)].join(' ')} after.sql ${url} > plan 2> left; sqlapply --allow all ${url} < plan; echo $?; cat left; sqldiff ${ignore} after.sql ${url}`,
  );
  assert.equal(lossy.stderr, '', `${about}\n${lossy.stderr}`);
  const [applyStatus, ...rest] = lossy.stdout.toString().split('\n');
  assert.equal(applyStatus, '0', `${about}\n${lossy.stdout}`);
  const left = rest
    .join('\n')
    .split(/^(?=sqldiff: )/m)
    .filter(message => message.startsWith('sqldiff: '));
  const isReconciled = lossy.code === 0;
  if (left.length === 0) assert.ok(isReconciled, `${about}\n${lossy.stdout}`);
  await checkKept(server, pair, before, about);
  await checkValid(server, about);
  return { isReconciled, left };
}

/** The names of a pair after its changes; a view whose statement differs may give other rows. */
const newNames = ({ names, before, after }: SchemaPair): NewNames => ({
  object: name => names.get(name)?.name,
  column: (object, column) => names.get(object)?.columns.get(column),
  isRedefined: view =>
    before.some(each => each.startsWith(`CREATE MATERIALIZED VIEW '${view}'`) && !after.includes(each)),
});

async function checkNothingIsLost(
  server: Server,
  { tables, names }: SchemaPair,
  before: Map<string, string[][]>,
  about: string,
): Promise<void> {
  for (const table of tables) {
    const { name } = table;
    const known = names.get(name);
    const currentName = (await columnNames(server, name)) ? name : (known?.name ?? name);
    const currentColumns = (await columnNames(server, currentName)) ?? [];
    for (const [i, { name: column }] of comparable(table).entries()) {
      const candidates = [column, known?.columns.get(column) ?? column];
      const found = candidates.find(each => currentColumns.includes(each));
      assert.ok(found, `${about}: '${name}' has lost its column '${column}'`);
      assert.deepEqual(
        await valuesOf(server, currentName, [found]),
        before.get(name)?.[i],
        `${about}: values of '${name}'.'${column}'`,
      );
    }
  }
}

/** Whether a server keeps the values of this file when it converts them, by the two types. */
const kept = new Map<string, boolean>();

/** Whether a server keeps the values of this file when it converts a column of a table that nothing else is done to. */
async function keepsValues(server: Server, from: string, to: string): Promise<boolean> {
  const key = `${from} to ${to}`;
  const known = from === to || kept.get(key);
  if (known !== undefined) return known;
  const name = 'a conversion alone';
  const column = { name: 'c', type: from, cached: true, dedup: false };
  await execute(server, `CREATE TABLE '${name}' (ts TIMESTAMP, c ${from}) TIMESTAMP(ts) PARTITION BY DAY WAL`);
  await fill(server, { name, timestamp: 'ts', columns: [{ ...column, name: 'ts', type: 'TIMESTAMP' }, column] });
  const before = await valuesOf(server, name, ['c']);
  const { error } = await server.execute(`ALTER TABLE '${name}' ALTER COLUMN c TYPE ${to}`);
  await waitUntilApplied(server);
  const isKept = error === undefined && JSON.stringify(await valuesOf(server, name, ['c'])) === JSON.stringify(before);
  await execute(server, `DROP TABLE '${name}'`);
  kept.set(key, isKept);
  return isKept;
}

/**
 * Checks the values after every loss was allowed. Columns that are in both schemas, with a type that keeps the values, have kept
 * them, unless rows have expired.
 */
async function checkKept(
  server: Server,
  pair: SchemaPair,
  before: Map<string, string[][]>,
  about: string,
): Promise<void> {
  for (const table of pair.tables) {
    const { name, ttl } = table;
    const known = pair.names.get(name);
    const currentName = known?.name ?? name;
    const currentColumns = await columnNames(server, currentName);
    if (!currentColumns) continue;
    const [[statement] = []] = await execute(server, `SHOW CREATE TABLE '${currentName}'`);
    if (ttl !== 0 || / TTL /.test(String(statement))) continue;
    const types = new Map(
      (await execute(server, `SELECT "column", type FROM table_columns('${currentName}')`)) as [string, string][],
    );
    for (const [i, { name: column, type }] of comparable(table).entries()) {
      const found = known?.columns.get(column) ?? column;
      const isSame = currentColumns.includes(found) && (await keepsValues(server, type, String(types.get(found))));
      if (isSame)
        assert.deepEqual(
          await valuesOf(server, currentName, [found]),
          before.get(name)?.[i],
          `${about}: values of '${name}'.'${column}'`,
        );
    }
  }
}

async function checkValid(server: Server, about: string): Promise<void> {
  const invalid = async () => [
    ...(await execute(server, "SELECT view_name, invalidation_reason FROM views() WHERE view_status = 'invalid'")),
    ...(await execute(
      server,
      // The query of a recorded view may fail on rows, whatever a plan does.
      "SELECT view_name, invalidation_reason FROM materialized_views() WHERE view_status = 'invalid' AND coalesce(invalidation_reason, '') NOT LIKE '[-1]: timestamp type mismatch%'",
    )),
  ];
  // Views are compiled a moment later.
  await waitUntilNone(invalid, about);
}
