/*! The real server that other tests use: it can be emptied, and leaves no files behind. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { ExecutionContext } from 'ava';
import { freshFolder } from '../support/folder.js';
import { borrowQuestDB, testWithQuestDB } from '../support/questdb.js';

testWithQuestDB('a server can be emptied and used again', async t => {
  const server = await borrowQuestDB(t);
  const schema = [
    'CREATE TABLE a (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY',
    'CREATE VIEW b AS (SELECT * FROM a)',
    'CREATE MATERIALIZED VIEW c AS (SELECT ts, count() n FROM a SAMPLE BY 1h)',
  ];
  for (let round = 0; round < 2; round++) {
    await server.dropAll();
    t.like(await server.execute('SELECT table_name FROM tables()'), { dataset: [] });
    for (const sql of schema) t.deepEqual(await server.execute(sql), { ddl: 'OK' });
  }
});

type Script = ChildProcessByStdio<Writable, Readable, null>;

const assertCleanExit = async (t: ExecutionContext, end: (script: Script) => void) => {
  const TMPDIR = await freshFolder(t);
  const script = spawn(process.execPath, ['.cache/compiled/scripts/questdb.js'], {
    env: { ...process.env, TMPDIR },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [url] = await once(createInterface(script.stdout), 'line');
  t.is((await fetch(`${url}/ping`)).status, 204);
  end(script);
  t.deepEqual(await once(script, 'exit'), [0, null]);
  await t.throwsAsync(fetch(`${url}/ping`));
  const wrong = (await readdir(TMPDIR)).filter(name => name.startsWith('questdb-'));
  t.deepEqual(wrong, []);
};

testWithQuestDB('SIGTERM ends the server and removes its folder', assertCleanExit, script => script.kill('SIGTERM'));
testWithQuestDB('the end of its standard input ends the server and removes its folder', assertCleanExit, script =>
  script.stdin.end(),
);
