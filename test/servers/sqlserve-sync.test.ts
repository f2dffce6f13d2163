/*!
 * sqlserve syncs every statement to disk before it acknowledges the statement. Tested by its system calls, since a killed
 * process loses nothing that it has written, synced or not.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { freshFolder } from '../support/folder.js';
import { startServer } from '../support/server.js';
import { SQLSERVE } from '../support/sqlserve.js';
import { testWith } from '../support/tools.js';

/** A step of sqlserve whose order is guaranteed; `n` is a number of statements. */
type Step = { did: 'write' | 'acknowledge'; n: number } | { did: 'begin sync' | 'end sync' | 'rename' | 'ready' };

/** The steps in a log of strace. Threads write and sync, so a call may begin in one line and end in another. */
const parseSteps = (log: string): Step[] =>
  log.split('\n').flatMap((line): Step[] => {
    const count = (text: RegExp) => line.match(text)?.length ?? 0;
    if (/ f(data)?sync\(/.test(line)) return [{ did: 'begin sync' }, ...(/ = 0$/.test(line) ? [END] : [])];
    if (/<\.\.\. f(data)?sync resumed.* = 0$/.test(line)) return [END];
    if (/ rename/.test(line)) return [{ did: 'rename' }];
    if (/ "http:\/\//.test(line)) return [{ did: 'ready' }];
    if (/ "\[\{/.test(line)) return [{ did: 'write', n: count(/\]\\n/g) }];
    return count(/ "HTTP/g) ? [{ did: 'acknowledge', n: count(/\{\\"ddl\\":\\"OK\\"\}/g) }] : [];
  });

const END: Step = { did: 'end sync' };

/** Runs sqlserve on a folder under strace during `work`; resolves to its steps. */
async function traceSqlserve(
  t: ExecutionContext,
  data: string,
  work: (execute: (sql: string) => Promise<unknown>) => Promise<unknown>,
) {
  const log = join(await freshFolder(t), 'log');
  // With -D sqlserve is our child process, which receives the signal that ends it.
  const trace = [
    '-D',
    '-f',
    '-s',
    '100000',
    '-o',
    log,
    '-e',
    'trace=write,writev,pwrite64,pwritev,fsync,fdatasync,/^rename',
  ];
  const server = await startServer(t, 'strace', [...trace, SQLSERVE, '--port', '0', '--data', data]);
  await work(sql => server.execute(sql));
  await server.end();
  return parseSteps(await readFile(log, 'utf8'));
}

for (const [how, work] of [
  [
    'one after the other',
    async execute => {
      for (let n = 0; n < 5; n++) await execute(`CREATE TABLE t${n} (x INT)`);
      await execute('ALTER TABLE t0 ADD COLUMN y INT');
      await execute('DROP TABLE t1');
    },
  ],
  ['at once', execute => Promise.all(Array.from({ length: 7 }, (_, n) => execute(`CREATE TABLE t${n} (x INT)`)))],
] as const satisfies [string, Parameters<typeof traceSqlserve>[2]][])
  testWith('strace')(`statements sent ${how} are synced to the journal before they are acknowledged`, async t => {
    const steps = await traceSqlserve(t, join(await freshFolder(t), 'data'), work);
    let [written, syncing, synced, acknowledged] = [0, 0, 0, 0];
    for (const step of steps.slice(steps.findIndex(({ did }) => did === 'ready'))) {
      if (step.did === 'write') written += step.n;
      else if (step.did === 'begin sync') syncing = written;
      else if (step.did === 'end sync') synced = syncing;
      else if (step.did === 'acknowledge') acknowledged += step.n;
      t.true(acknowledged <= synced, `${acknowledged} acknowledged, ${written} written, ${synced} of them synced`);
    }
    t.deepEqual([written, acknowledged], [7, 7]);
  });

testWith('strace')('at start, sqlserve replaces the journal by a synced one before it is ready', async t => {
  const data = join(await freshFolder(t), 'data');
  await traceSqlserve(t, data, execute => execute('CREATE TABLE a (x INT)'));
  const steps = await traceSqlserve(t, data, async () => {});
  const sync = ['begin sync', 'end sync'];
  t.deepEqual(
    steps.map(({ did }) => did),
    ['write', ...sync, 'rename', ...sync, 'ready'],
  );
});
