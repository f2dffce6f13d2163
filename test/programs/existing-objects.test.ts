/*! Existing objects: they are compared, unchanged statements are skipped, and a change is the only difference. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { CASES, type Case, type Change } from '../cases/meaning.js';
import { inProcess } from '../support/in-process.js';
import { perKey, questdb, type Service, sqlserve } from '../support/instances.js';
import { parseJsonLines } from '../support/json-lines.js';
import { testWithQuestDB } from '../support/questdb.js';
import { runSqlapply } from '../support/replay.js';
import type { Server } from '../support/server.js';
import { withoutStatements } from '../support/shell.js';
import { fileScope } from '../support/test.js';

const TABLE = "CREATE TABLE 't' ( \n\tts TIMESTAMP,\n\tx INT\n) timestamp(ts) PARTITION BY DAY;";

async function shellWithStream(t: Parameters<typeof inProcess>[0], url: string, ...statements: string[]) {
  return inProcess(t, { DST: url }, { stream: `${statements.join('\0')}\0` });
}

testWithQuestDB('known misprints of the server are not part of the difference', async t => {
  const target = await emptyServer(questdb);
  await target.execute('CREATE TABLE t (ts TIMESTAMP, "my col" INT, "order" INT) timestamp(ts) PARTITION BY DAY');
  await target.execute('CREATE VIEW v AS (\n\nselect "my col", ts from t\n\n)');
  const run = await shellWithStream(
    t,
    target.url,
    'CREATE TABLE \'t\' ( \n\tts TIMESTAMP,\n\t"my col" INT,\n\t"order" LONG\n) timestamp(ts) PARTITION BY DAY;',
    'CREATE VIEW \'v\' AS ( \nselect "my col", ts, "order" from t\n);',
  );
  t.deepEqual(
    (await run('sqlapply --keep-going $DST < stream')).stderr.split('\n').filter(line => /^ {2}(?!hint: )/.test(line)),
    [
      `  column 'order': LONG in the statement, INT in ${target.url}`,
      `  query: select "my col", ts, "order" from t in the statement, select "my col", ts from t in ${target.url}`,
    ],
  );
});

testWithQuestDB('a property that the server does not show is listed as not compared', async t => {
  const target = await emptyServer(questdb);
  for (const statement of [
    'CREATE TABLE t (s SYMBOL CAPACITY 64)',
    "CREATE TABLE 't' ( \n\ts SYMBOL CAPACITY 64\n);",
  ]) {
    const run = await shellWithStream(t, target.url, statement);
    const unseen = `sqlapply: not compared, because ${target.url} does not show it: table 't': column 's' capacity\n`;
    for (const result of ['applied', 'skipped']) {
      const { code, stderr } = await run('sqlapply -v $DST < stream');
      t.deepEqual(
        [code, withoutStatements(stderr)],
        [0, `${unseen}sqlapply: ${target.url}: 1 statement: 1 ${result}\n`],
      );
    }
    await target.dropAll();
  }
});

testWithQuestDB('an existing view is not accepted as a table with the same columns', async t => {
  const target = await emptyServer(questdb);
  await target.execute(TABLE);
  await target.execute("CREATE VIEW 'Vïew' AS (select * from t)");
  await target.execute("CREATE MATERIALIZED VIEW 'm' AS (select ts, max(x) x from t sample by 1h) PARTITION BY DAY");
  for (const name of ['Vïew', 'vïEW', 'm']) {
    const tail = name === 'm' ? ' timestamp(ts) PARTITION BY DAY;' : ';';
    const run = await shellWithStream(t, target.url, `CREATE TABLE '${name}' ( \n\tts TIMESTAMP,\n\tx INT\n)${tail}`);
    const { stderr } = await run.exits(1, 'sqlapply $DST < stream');
    t.regex(stderr, /: view or materialized view with the requested name already exists/);
    const hidden = "CREATE VIEW 'tables' AS (select 1 as one from t)";
    await target.execute(hidden);
    t.is((await run('sqlapply $DST < stream')).code, 1, 'a view shadows tables()');
    await target.execute('DROP VIEW tables');
  }
});

testWithQuestDB('--if-exists skip skips only a statement whose object the target has, of whatever kind', async t => {
  const target = await emptyServer(questdb);
  await target.execute('CREATE TABLE t (a INT, b INT)');
  await target.execute('CREATE VIEW v AS (SELECT a FROM t)');
  await target.execute('CREATE TABLE gone (x INT)');
  await target.execute('CREATE VIEW Broken AS (SELECT x FROM gone)');
  await target.execute('DROP TABLE gone');
  for (const [statement, result] of [
    ['ALTER TABLE t RENAME COLUMN a TO b;', 'rejected'],
    [`CREATE TABLE '${'表'.repeat(90)}' (x INT);`, 'rejected'], // too long for the name of a folder
    ['CREATE TABLE T (x INT);', 'skipped'],
    ['CREATE TABLE v (x INT);', 'skipped'],
    ['CREATE VIEW t AS (SELECT a FROM v);', 'skipped'],
    ['CREATE VIEW bROKEN AS (SELECT a FROM t);', 'skipped'],
  ] as const)
    for (const options of ['', '--dry-run']) {
      const text = `--allow ALTER --if-exists skip ${options}`;
      const { code, results } = await runSqlapply(t, target.url, { text: statement, options: text });
      t.deepEqual([code, results], [result === 'skipped' ? 0 : 1, [result]], `${statement} ${options}`);
    }
});

testWithQuestDB('a statement too large for the server is named before anything is sent', async t => {
  const target = await emptyServer(questdb);
  const columns = Array.from({ length: 2500 }, (_, i) => `, column_${i} DOUBLE`).join('');
  // Few characters, but each has three bytes, and nine in a request.
  for (const text of [columns, `, x INT /* ${'€'.repeat(4000)} */`]) {
    const run = await shellWithStream(t, target.url, TABLE, `CREATE TABLE 'wide' (ts TIMESTAMP${text})`);
    t.regex(
      (await run.exits(1, 'sqlapply $DST < stream')).stderr,
      /statement 2 \(table 'wide'\): request too large: .* buffer of \d+ bytes, and the server has 64448; .*nothing was sent/,
    );
    t.deepEqual((await target.execute('select table_name from tables()')).dataset, []);
  }
});

const scope = fileScope();
const serverOf = perKey((service: Service) => service.start(scope));

async function shellWithFiles(t: ExecutionContext, server: Server, files: Record<string, readonly string[]>) {
  const texts = Object.entries(files).map(([name, statements]) => [name, statements.map(terminate).join('\n')]);
  const run = await inProcess(t, { URL: server.url }, Object.fromEntries(texts));
  const apply = (file: string, options = '') =>
    run(`set -o pipefail; sqlsplit ${file} | sqlapply --allow CTAS ${options} --report report $URL`);
  const report = async (): Promise<{ name: string; result: string }[]> =>
    parseJsonLines(await readFile(join(run.folder, 'report'), 'utf8'));
  return { run, apply, report };
}

const terminate = (statement: string): string => (/;\s*$/.test(statement) ? statement : `${statement};`);

async function emptyServer(service: Service): Promise<Server> {
  const server = await serverOf(service);
  await server.dropAll();
  return server;
}

const nthChanges = (nth: number): { name: string; changed: string; property: string }[] =>
  CASES.flatMap(([name, statement, ...changes]: Case) => {
    const [from, to, property] = (changes as Change[])[nth] ?? [];
    return from === undefined || to === undefined || property === undefined
      ? []
      : { name, changed: replaceOnce(statement, from, to), property };
  });

function replaceOnce(statement: string, from: string, to: string): string {
  if (!statement.includes(from)) throw new Error(`${from} is not in ${statement}`);
  return statement.replace(from, () => to);
}

const ROUNDS = [0, 1, 2, 3].map(nthChanges);

const escapeRegExp = (text: string): string => text.replace(/[^\w ]/g, '\\$&');

function messageOf(stderr: string, name: string): string {
  return (
    stderr
      .split(/\n(?=\S)/)
      .find(message => message.includes(`'${name}'`))
      ?.trimEnd() ?? ''
  );
}

for (const service of [sqlserve, questdb]) {
  service.test(`${service.name}: handwritten statements are applied once and skipped afterwards`, async t => {
    const statements = CASES.map(([, statement]) => statement);
    const { run, apply, report } = await shellWithFiles(t, await emptyServer(service), { 'schema.sql': statements });
    t.deepEqual(await apply('schema.sql').then(({ code, stderr }) => ({ code, stderr })), { code: 0, stderr: '' });
    t.deepEqual(new Set((await report()).map(({ result }) => result)), new Set(['applied']));
    const again = await apply('schema.sql');
    t.deepEqual({ code: again.code, stderr: again.stderr }, { code: 0, stderr: '' });
    const results = (await report()).map(({ name, result }) => ({ name, result }));
    t.deepEqual(
      results,
      CASES.map(([name]) => ({ name, result: 'skipped' })),
    );
    const diff = await run('sqldiff schema.sql $URL');
    t.deepEqual({ ...diff, stdout: diff.stdout }, { code: 0, stdout: '', stderr: '' });
  });

  service.test(`${service.name}: a small change is reported as a difference of that property only`, async t => {
    const server = await serverOf(service);
    const files = ROUNDS.map((round, i) => [`changed${i}.sql`, round.map(({ changed }) => changed)] as const);
    const { run, apply, report } = await shellWithFiles(t, server, Object.fromEntries(files));
    for (const [i, round] of ROUNDS.entries()) {
      const expected = round.map(({ name, property }) => [name, [property]]);
      const diff = await run(`sqldiff --json --ignore-extra changed${i}.sql $URL`);
      const found = parseJsonLines(diff.stdout);
      const properties = found.map(({ name, properties }) => [
        name,
        properties?.map(({ property }: { property: string }) => property),
      ]);
      t.deepEqual(properties.sort(), expected.sort());
      t.is(diff.code, 1);
      const { code, stderr } = await apply(`changed${i}.sql`, '--keep-going');
      t.is(code, 1);
      const wrong = (await report()).filter(({ result }) => result !== 'differs');
      t.deepEqual(wrong, []);
      for (const { name, property } of round) {
        const listed = new RegExp(`^[^\n]*\n *${escapeRegExp(property)}: [^\n]*$`);
        t.regex(
          messageOf(stderr, name),
          property === 'column order' ? /hint: --ignore 'column order' accepts this order$/m : listed,
          name,
        );
      }
    }
  });
}
