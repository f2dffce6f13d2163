/*! Assumptions about the server, checked with a real one: request sizes to the byte, and the limit on rows. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import {
  type Client,
  connect,
  encodeQuery,
  InstanceError,
  resolveInstance,
} from '../../packages/instance/src/index.js';
import { DEFAULT_REQUEST_BUFFER } from '../../packages/sql/src/index.js';
import { sharedQuestDB, startQuestDB, testWithQuestDB } from '../support/questdb.js';

const server = sharedQuestDB();

async function openClient(url: string, env = {}) {
  return connect(await resolveInstance(url, { program: 'sqldump', env, warn: () => {} }));
}

/** The length of the longest statement that fits the server's buffer. */
function maxLength(db: Client, statement: (length: number) => string, purpose?: 'query'): number {
  let length = 1;
  for (let step = 1 << 16; step > 0; step >>= 1)
    if (db.requiredBuffer(statement(length + step), purpose) <= DEFAULT_REQUEST_BUFFER) length += step;
  return length;
}

testWithQuestDB('the maximum size of a request is known to the byte', async t => {
  const { url } = server;
  for (const env of [{}, { SQLDUMP_TOKEN: 'x'.repeat(500) }])
    for (const character of ['x', 'ä', '=', ' ']) {
      const statement = (length: number) => `CREATE TABLE IF NOT EXISTS t (x INT) -- ${character.repeat(length)}`;
      const db = await openClient(url, env);
      const length = maxLength(db, statement);
      t.deepEqual(await db.execute(statement(length)), { ok: true }, character);
      const error = await t.throwsAsync(db.execute(statement(length + 1)), { instanceOf: InstanceError });
      t.regex(error.message, /too large.*64448/, character);
      const query = (length: number) => `SELECT 1 -- ${character.repeat(length)}`;
      const queryLength = maxLength(db, query, 'query');
      t.deepEqual(await db.queryRows(query(queryLength)), [[1]], character);
      await t.throwsAsync(db.queryRows(query(queryLength + 1)), { message: /too large.*64448/ }, character);
      await db.close();
    }
});

const wide = (columns: number) =>
  `CREATE TABLE 'wide' ( \n\tts TIMESTAMP,\n${Array.from({ length: columns }, (_, i) => `\tcolumn_${i} DOUBLE`).join(',\n')}\n) timestamp(ts) PARTITION BY DAY;`;

testWithQuestDB('statements may be larger than with curl --data-urlencode, by the documented sizes', async t => {
  const { url } = server;
  const curlSends = (statement: string) =>
    spawnSync('curl', ['-sG', `${url}/api/v1/sql/execute`, '--data-urlencode', `query=${statement}`]).status === 0;
  t.deepEqual([1230, 1231].map(wide).map(curlSends), [true, false]);
  const db = await openClient(url);
  t.teardown(() => db.close());
  await db.execute(wide(1329));
  await t.throwsAsync(db.execute(wide(1330)), { message: /too large/ });
  const page = readFileSync('packages/sqlapply/sqlapply.1', 'utf8');
  for (const columns of [1329, 1230]) t.true(page.includes(wide(columns).length.toLocaleString('en-US')));
});

testWithQuestDB('a dump that the server limits to fewer rows is rejected', async t => {
  const { url } = await startQuestDB(t, { QDB_HTTP_SECURITY_MAX_RESPONSE_ROWS: '2' });
  const db = await openClient(url);
  t.teardown(() => db.close());
  const readAll = async () => {
    for await (const _ of db.streamFirstColumn('SELECT x::varchar ddl FROM long_sequence(3)'));
  };
  t.like(await t.throwsAsync(readAll), {
    code: 'PROTOCOL',
    message: `${url}: the reply contains 2 rows, but its count is 3; try again; if it fails again, see the server's log`,
  });
  t.deepEqual(await db.queryRows('SELECT x FROM long_sequence(2)'), [[1], [2]]);
});

testWithQuestDB('every character survives a round trip through the server', async t => {
  const { url } = server;
  const db = await openClient(url);
  t.teardown(() => db.close());
  const all = Array.from({ length: 0x2ff }, (_, i) => String.fromCharCode(i + 1))
    .join('')
    .replaceAll("'", "''");
  const rows = await db.queryRows(`SELECT '${all}\u2028\ufeff\u{1f600}'`);
  t.is(rows[0]?.[0], `${all}\u2028\ufeff\u{1f600}`.replaceAll("''", "'"));
  t.true(encodeQuery(all).length < encodeURIComponent(all).length);
});
