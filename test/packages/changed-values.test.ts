/*! What a plan says of the values that it changes, compared with what the change makes of them on a real server. */
import { canCast, isLossless } from '@sqlpipe/ddl';
import { planChanges } from '@sqlpipe/plan';
import { canConvert } from '../../packages/ddl/src/columns/conversions.js';
import { settle, waitUntilApplied } from '../support/background.js';
import { insertCells, MORE_VALUES, TYPES, VALUES } from '../support/column-values.js';
import { textsOf } from '../support/plans.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute } from '../support/server.js';
import { test } from '../support/test.js';

const server = sharedQuestDB();

/** Types of columns that all convert, each from its values. */
const LOSSY = TYPES.filter(type => !type.startsWith('DECIMAL'));

testWithQuestDB('the number of values that change is the one that the change has, for each pair of types', async t => {
  const textsIn = async (table: string, columns: readonly string[]): Promise<unknown[][]> => {
    const list = columns.map(column => `CAST(${column} AS STRING)`).join(', ');
    const rows = await execute(server, `SELECT ${list} FROM ${table} ORDER BY ts`);
    return columns.map((_, i) => rows.map(row => row[i]));
  };
  let tried = 0;
  for (const [i, from] of LOSSY.entries()) {
    const targets = LOSSY.filter(to => canConvert(from, to) && !isLossless(from, to));
    if (targets.length === 0) continue;
    const table = `t${i}`;
    const columns = targets.map((_, at) => `c${at}`);
    const print = (types: string[]) =>
      `CREATE TABLE ${table} (ts TIMESTAMP, old ${from}, ${types.map((type, at) => `c${at} ${type}`).join(', ')}) TIMESTAMP(ts) PARTITION BY DAY WAL;`;
    const [before, after] = [print(targets.map(() => from)), print(targets)];
    await execute(server, before);
    const values = [...(VALUES[from] ?? []), ...(MORE_VALUES[from] ?? [])];
    await execute(server, insertCells(table, ['old', ...columns], from, values));
    await waitUntilApplied(server);
    const fetchRow = async (query: string) => (await execute(server, query))[0];
    const plan = await planChanges([after], [before], { fetchRow, version: '9.3.4' });
    for (const [at, to] of targets.entries())
      await execute(server, `ALTER TABLE ${table} ALTER COLUMN c${at} TYPE ${to}`);
    t.false(await settle(server, table), from);
    const [old = [], ...changed] = await textsIn(table, ['old', ...columns]);
    for (const column of columns) await execute(server, `ALTER TABLE ${table} ALTER COLUMN ${column} TYPE ${from}`);
    t.false(await settle(server, table), from);
    const restored = await textsIn(table, columns);
    for (const [at, to] of targets.entries()) {
      const nulls = old.filter((text, n) => text !== null && changed[at]?.[n] === null).length;
      const toNull = nulls > 0 ? `, ${nulls} of them to NULL` : '';
      const { reasons } = plan.omissions.find(({ properties }) => properties[0] === `column 'c${at}'`) ?? {};
      const changedCount = old.filter((text, n) => text !== restored[at]?.[n]).length;
      const loss = `may lose values of column 'c${at}': ${from} to ${to}; ${changedCount} of ${old.length} values change${toNull}`;
      t.deepEqual(reasons, changedCount === 0 ? undefined : [loss]);
      // If no value changes, nothing has to be allowed. The plan stops if a value changes later.
      const isAsserted = textsOf(plan).some(text => text.includes('none_changed') && text.includes(`"c${at}"`));
      t.is(isAsserted, changedCount === 0);
      tried++;
    }
  }
  t.true(tried > 90, `${tried} conversions`);
});

test('without a server that answers, the number of values that change is unknown', async t => {
  const [before, after] = ['LONG', 'INT'].map(
    type => `CREATE TABLE t (ts TIMESTAMP, x ${type}) TIMESTAMP(ts) PARTITION BY DAY;`,
  );
  for (const fetchRow of [undefined, async () => undefined]) {
    const { omissions } = await planChanges([after ?? ''], [before ?? ''], { fetchRow });
    t.regex(omissions[0]?.reasons[0] ?? '', /LONG to INT; how many values change is unknown$/);
  }
});

/** A value of each type that can be a number, a time and a text, as far as the type allows it. */
const CASTABLE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['BOOLEAN', 'BYTE', 'SHORT', 'INT', 'LONG', 'FLOAT', 'DOUBLE'].map(type => [type, '1'])),
  ...Object.fromEntries(['DATE', 'TIMESTAMP', 'TIMESTAMP_NS'].map(type => [type, '1'])),
  ...Object.fromEntries(['STRING', 'VARCHAR', 'SYMBOL', 'CHAR'].map(type => [type, "'1'"])),
  ...Object.fromEntries(['DECIMAL(10,2)', 'DECIMAL(4,1)', 'DECIMAL(38,10)'].map(type => [type, '1m'])),
  BOOLEAN: 'true',
  IPv4: "'1.2.3.4'",
  UUID: "'00000000-0000-0000-0000-000000000211'",
  LONG256: "'0x01'",
  'GEOHASH(5c)': '#u33d8',
  'GEOHASH(4b)': '##0101',
  'DOUBLE[]': 'ARRAY[1.0]',
  'DOUBLE[][]': 'ARRAY[[1.0]]',
  BINARY: 'null',
};

testWithQuestDB('a rebuild casts each pair of types that the server casts, and leaves out the others', async t => {
  const types = Object.keys(CASTABLE);
  const print = (name: string, columns: readonly string[], unit = 'DAY') =>
    `CREATE TABLE ${name} (ts TIMESTAMP, ${columns.map((type, at) => `x${at} ${type}`).join(', ')}) TIMESTAMP(ts) PARTITION BY ${unit} WAL;`;
  /** Makes a table whose columns all have the type, with a row; and plans a rebuild to other types. */
  const rebuild = async (table: string, from: string, targets: readonly string[]) => {
    const columns = targets.map(() => from);
    await execute(server, print(table, columns));
    const value = CASTABLE[from] ?? '';
    const cell = /ARRAY|#/.test(value) ? value : `CAST(${value} AS ${from})`;
    await execute(server, `INSERT INTO ${table} SELECT 0::timestamp, ${columns.fill(cell)} FROM long_sequence(1)`);
    // A NULL makes some casts of arrays fail.
    if (from.endsWith('[]')) await execute(server, `INSERT INTO ${table} (ts) VALUES (1)`);
    const after = print(table, targets, 'HOUR');
    const plan = await planChanges(
      [after],
      [
        print(
          table,
          targets.map(() => from),
        ),
      ],
      { rebuild: [table] },
    );
    return { insert: textsOf(plan).find(text => text.startsWith('INSERT')), omissions: plan.omissions };
  };
  for (const [i, to] of types.entries()) await execute(server, print(`copy${i}`, [to]));
  for (const [i, from] of types.entries()) {
    const others = types.filter(to => to !== from);
    const [castable, left] = [others.filter(to => canCast(from, to)), others.filter(to => !canCast(from, to))];
    if (castable.length > 0) {
      const { insert = '', omissions } = await rebuild(`t${i}`, from, castable);
      t.deepEqual(omissions, [], from);
      await execute(server, print(`t${i}_copy`, castable, 'HOUR'));
      await waitUntilApplied(server);
      await execute(server, insert.replace(/INTO '.*?'/, `INTO t${i}_copy`));
      await waitUntilApplied(server);
      t.deepEqual(await execute(server, `SELECT count() FROM t${i}_copy`), [[from.endsWith('[]') ? 2 : 1]], from);
    }
    if (left.length === 0) continue;
    const { insert, omissions } = await rebuild(`u${i}`, from, left);
    t.is(insert, undefined);
    const reasons = left.map((to, at) => `the server cannot cast column 'x${at}': ${from} to ${to}`);
    t.deepEqual(omissions[0]?.reasons, reasons);
    await waitUntilApplied(server);
    for (const [at, to] of left.entries()) {
      const copy = `INSERT INTO copy${types.indexOf(to)} SELECT ts, CAST(x${at} AS ${to}) FROM u${i}`;
      t.not((await server.execute(copy)).error, undefined, `${from} to ${to}`);
    }
  }
});

test('a rebuild that sets the TTL of B last relies on the permission to lose expired rows', async t => {
  const schema = (by: string) => [`CREATE TABLE t (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY ${by} TTL 1 DAY WAL;`];
  const options = { rebuild: ['t'], allowLoss: ['ttl:t'] };
  const { neededAllowances, notes } = await planChanges(schema('HOUR'), schema('DAY'), options);
  t.deepEqual([neededAllowances, notes], [['ttl:t'], []]);
});
