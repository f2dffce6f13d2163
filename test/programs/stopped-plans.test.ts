/*! How a plan is applied: what is named if it stops, and what is not compared again. */
import { type Instead, recordingProxy } from '../support/recording-proxy.js';
import { shell } from '../support/shell.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const LOGGED = 'TIMESTAMP(ts) PARTITION BY DAY WAL';

test('a plan that stops names what is invalid or suspended since its first statement', async t => {
  const server = await startSqlserve(t);
  for (const statement of [
    `CREATE TABLE changed (ts TIMESTAMP, x INT) ${LOGGED}`,
    `CREATE TABLE waiting (ts TIMESTAMP, x INT) ${LOGGED}`,
    'CREATE TABLE gone (x INT)',
    'CREATE TABLE going (x INT)',
    'CREATE VIEW broken AS (SELECT x FROM gone)',
    'CREATE VIEW breaking AS (SELECT x FROM going)',
    'DROP TABLE gone',
  ])
    t.is((await server.execute(statement)).error, undefined);
  const suspended = [['waiting', 'no space left']];
  const { url } = await recordingProxy(t, server, async (query): Promise<Instead | undefined> => {
    if (/^SELECT name, errorMessage FROM wal_tables\(\) WHERE suspended/.test(query))
      return [200, { columns: [{ name: 'name' }, { name: 'errorMessage' }], dataset: suspended }];
    if (!query.includes('ADD COLUMN')) return undefined;
    await server.execute('DROP TABLE going');
    suspended.push(['changed', 'no file']);
    return [400, { error: 'could not open', position: 0 }];
  });
  const run = await shell(t, { DB: url, AFTER: `CREATE TABLE changed (ts TIMESTAMP, x INT, y INT) ${LOGGED};` });
  const made = await run('echo "$AFTER" > after.sql; sqldiff --ignore-extra --alter after.sql $DB > plan');
  t.is(made.code, 0, made.stderr);
  const { code, stderr } = await run('sqlapply --allow ALTER $DB < plan');
  t.is(code, 1, stderr);
  const named = stderr.split('\n').filter(line => / is (?:invalid|suspended): /.test(line));
  t.deepEqual(
    named.map(line => line.replace(/^sqlapply: \S+ /, '')),
    ["table 'changed' is suspended: no file", "view 'breaking' is invalid: table does not exist [table=going]"],
    stderr,
  );
});

test('a plan stops if somebody else changes what its view reads from, in whatever case that is written', async t => {
  const server = await startSqlserve(t);
  const table = 'CREATE TABLE Trades (x INT)';
  t.is((await server.execute(table)).error, undefined);
  const { url } = await recordingProxy(t, server, async query => {
    if (query.includes('CREATE TABLE other')) await server.execute('ALTER TABLE Trades ADD COLUMN y INT');
    return undefined;
  });
  const after = [table, 'CREATE TABLE other (x INT)', 'CREATE VIEW v AS (SELECT x FROM TRADES)'];
  const run = await shell(t, { DB: url, AFTER: `${after.join(';\n')};` });
  const { code, stderr } = await run(
    'echo "$AFTER" > after.sql; sqldiff --alter after.sql $DB > plan; sqlapply --allow ALTER $DB < plan',
  );
  t.is(code, 1, stderr);
  t.regex(
    stderr,
    /view 'v'.* somebody else has changed table 'Trades' while the plan was applied: column 'y': none to INT/,
  );
});

test('a statement that sqlapply --alter has planned has a number, and no place in the files', async t => {
  const server = await startSqlserve(t);
  t.is((await server.execute('CREATE TABLE t (x INT)')).error, undefined);
  const { url } = await recordingProxy(t, server, query =>
    query.includes('ALTER TABLE') ? [400, { query, error: 'no', position: 0 }] : undefined,
  );
  const run = await shell(t, { DB: url });
  await run(`printf 'CREATE TABLE t (x INT, y INT);' > schema.sql`);
  const { code, stderr } = await run('sqlapply --alter $DB schema.sql');
  t.is(code, 1);
  t.regex(stderr, /^sqlapply: statement 1 \(ALTER of table 't'\): no$/m);
});

test('sqlapply --alter changes what differs beside the order of columns, and does not compare that again', async t => {
  const server = await startSqlserve(t);
  t.is((await server.execute('CREATE TABLE t (x INT, y INT)')).error, undefined);
  const run = await shell(t, { DB: server.url });
  await run(`printf 'CREATE TABLE t (y INT, z INT, x INT);' > schema.sql`);
  for (const time of ['the first', 'the second']) {
    const { code, stderr } = await run('sqlapply --alter $DB schema.sql');
    t.is(code, 0, `${time} time: ${stderr}`);
  }
  t.deepEqual(
    (await server.execute('SHOW COLUMNS FROM t')).dataset?.flatMap(([name]) => name),
    ['x', 'y', 'z'],
  );
});
