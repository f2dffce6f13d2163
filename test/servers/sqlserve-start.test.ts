import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { startServer } from '@sqlpipe/server';
import { freshFolder } from '../support/folder.js';
import { listen } from '../support/listen.js';
import { random, SEED } from '../support/seed.js';
import { failToStart, readDump, serveFolder, startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

test('invalid options and folders that cannot be created are rejected', async t => {
  const folder = await freshFolder(t);
  const file = join(folder, 'file');
  await writeFile(file, '');
  const refused = [
    [['--port', '99999'], 64, /--port must be a whole number from 0 to 65535/],
    [['--allow-host'], 64, /missing value for option: allow-host/],
    [['--port', '1.5'], 64, /--port must be/],
    [['--request-limit', '0'], 64, /--request-limit must be a whole number of at least 1/],
    [['--data', file], 74, /file\/journal.jsonl: not a directory/],
    [['--data', '/proc/nothing/here'], 74, /\/proc\/nothing: no such file or directory/],
    [['--load', folder], 65, /^sqlserve: \/.* contains none of the folders/],
  ] as const;
  await Promise.all(
    refused.map(async ([args, status, message]) => {
      const seen = await failToStart(args);
      t.is(seen.status, status, args.join(' '));
      t.regex(seen.message, message);
    }),
  );
});

for (const edition of ['oss', 'open-source'])
  test(`--edition ${edition} is the open source edition`, async t => {
    const server = await startSqlserve(t, ['--edition', edition]);
    t.deepEqual(await server.execute('CREATE TABLE t (x INT)'), { ddl: 'OK' }); // without a login
    t.truthy((await server.execute('CREATE USER ann')).error);
  });

test('no acknowledged statement is lost when sqlserve is killed', async t => {
  const folder = await freshFolder(t);
  const acknowledged: string[] = [];
  for (let round = 0; round < Number(process.env.KILLS ?? 3); round++) {
    const server = await startSqlserve(t, ['--data', folder]);
    const before = await fetch(`${server.url}/exec?query=show+tables`).then(
      reply => reply.json() as Promise<{ dataset: string[][] }>,
    );
    const there = new Set(before.dataset.flat());
    for (const name of acknowledged) t.true(there.has(name), `${name} was acknowledged and is gone; SEED=${SEED}`);
    const killed = new Promise(resolve => setTimeout(resolve, random.below(200))).then(() => server.end('SIGKILL'));
    for (let n = 0; ; n++) {
      const name = `t${round}_${n}`;
      const reply = await fetch(`${server.url}/exec?query=create+table+${name}(a+int)`).catch(() => undefined);
      const body = await reply?.text().catch(() => '');
      if (body !== '{"ddl":"OK"}') break;
      acknowledged.push(name);
    }
    await killed;
  }
  t.true(acknowledged.length > 0);
});

test('a torn last line of a journal is ignored, and other damage is rejected', async t => {
  const folder = await freshFolder(t);
  const journal = join(folder, 'journal.jsonl');
  const first = await serveFolder(t, folder, 'oss');
  await first.execute('create table kept (a int)');
  await first.end();
  const whole = await readFile(journal, 'utf8');
  await writeFile(journal, `${whole}[{"put":{"kind":"tab`);
  const second = await serveFolder(t, folder, 'oss');
  t.deepEqual((await second.execute('show tables')).dataset, [['kept']]);
  await second.end();
  await writeFile(journal, `nonsense\n${whole}`);
  const { status, message } = await failToStart(['--data', folder]);
  t.is(status, 65);
  t.regex(message, /^sqlserve: .*journal\.jsonl: line 1 is damaged/);
});

test('a folder in use by another sqlserve is rejected until that one is killed', async t => {
  const folder = await freshFolder(t);
  const first = await startSqlserve(t, ['--data', folder]);
  const { status, message } = await failToStart(['--data', folder]);
  t.is(status, 74);
  t.regex(message, /^sqlserve: .* is in use by another sqlserve; /);
  await first.end('SIGKILL');
  await startSqlserve(t, ['--data', folder]);
});

test('a server that cannot listen releases its folder', async t => {
  const data = await freshFolder(t);
  const options = { edition: 'oss', address: '127.0.0.1', data } as const;
  const port = await listen(t, createServer());
  await t.throwsAsync(startServer({ ...options, port }), { code: 'EADDRINUSE' });
  const server = await startServer({ ...options, port: 0 });
  await server.close();
});

test('--load runs .sql text and streams, and names a rejected statement', async t => {
  const folder = await freshFolder(t);
  const [sql, stream, bad] = ['a.sql', 'b.nul', 'c.sql'].map(name => join(folder, name)) as [string, string, string];
  await writeFile(sql, '-- two\ncreate table a (x int);\ncreate table b (x int);');
  await writeFile(stream, 'create view v as (select x from a);\n\0');
  await writeFile(bad, 'create table a (x int);\ncreate table c (x nope);');
  const server = await startSqlserve(t, ['--load', sql, '--load', stream]);
  t.is((await readDump(server)).length, 3);
  const { status, message } = await failToStart(['--load', bad]);
  t.is(status, 1);
  t.regex(message, /c\.sql: statement 2: unsupported column type: nope \(at 18 of: create table c \(x nope\);\)/);
  await writeFile(stream, 'create table d (x int);\n\0create');
  t.is(
    (await failToStart(['--load', stream])).message,
    `sqlserve: ${stream}: truncated after 1 complete record: the input does not end with a NUL byte; the previous command may have failed\n`,
  );
});

test('a folder is loaded once, completely or not at all', async t => {
  const folder = await freshFolder(t);
  const [data, good, bad] = ['made/data', 'good.sql', 'bad.sql'].map(name => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await writeFile(good, 'create table a (x int);');
  await writeFile(bad, 'create table b (x int); create table c (x nope);');
  t.is((await failToStart(['--data', data, '--load', bad])).status, 1);
  for (const load of [good, good, bad]) {
    const server = await startSqlserve(t, ['--data', data, '--load', load]);
    t.deepEqual((await server.execute('show tables')).dataset, [['a']]);
    await server.end();
  }
});
