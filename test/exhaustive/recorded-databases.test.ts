/*! Whole databases, recorded and live: any order can be sorted, a folder keeps everything, and each object replays with its dependencies. */

import { Readable } from 'node:stream';
import type { ExecutionContext } from 'ava';
import { selectStatements } from '../../packages/sqlgrep/src/select-statements.js';
import { reply, startFaultyServer } from '../faults/faulty-server.js';
import { databases } from '../support/databases.js';
import { inProcess } from '../support/in-process.js';
import { questdb } from '../support/instances.js';
import type { Server } from '../support/server.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { test } from '../support/test.js';

const sqlserve = sharedSqlserve();

/** The body of a reply with these rows. */
const rowsOf = (rows: string[]) => JSON.stringify({ dataset: rows.map(row => [row]), count: rows.length });

const arrayOf = (statements: AsyncIterable<string>) => Readable.from(statements).toArray();

/** Sorts the dump of an instance and splits and joins it as a folder; returns its statements. */
async function roundTripDump(t: ExecutionContext, SRC: string): Promise<string[]> {
  const run = await inProcess(t, { SRC });
  const { code, stdout, stderr } = await run(`set -o pipefail
sqldump -q $SRC > dump && sort -z dump | sqlsort | cmp - dump &&
sqljoin -d d < dump && sqlsplit d | sqlsort | cmp - dump && tr '\\0' '\\1' < dump`);
  t.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  return stdout.toString().split('\n\x01').slice(0, -1);
}

/** Creates each object of a dump with only the dependencies that sqlgrep finds. */
async function assertEachReplaysAlone(t: ExecutionContext, target: Server, statements: string[]) {
  const withDependencies = { withDeps: true, withDependents: false };
  for (const object of statements) {
    const part = await arrayOf(
      selectStatements(Readable.from(statements), ({ statement }) => statement === object, withDependencies),
    );
    t.true(part.includes(object));
    await target.dropAll();
    for (const statement of part) t.like(await target.execute(statement), { ddl: 'OK' }, statement);
  }
}

for (const { name, dump, statements } of databases) {
  test(`${name}: sqlsort, sqljoin -d and sqlsplit reproduce the dump`, async t => {
    const { url } = await startFaultyServer(t, (socket, { statement }) =>
      socket.end(reply(rowsOf(statement === 'SHOW CREATE DATABASE' ? dump : []))),
    );
    t.deepEqual(await roundTripDump(t, url), statements);
  });

  test(`${name}: each object replays with only its dependencies`, async t => {
    await assertEachReplaysAlone(t, sqlserve, statements);
  });
}

questdb.test('the trading schema, from a real server to another', async t => {
  const [source, target] = await Promise.all([questdb.start(t), questdb.start(t)]);
  const run = await inProcess(t, { SRC: source.url, TRADING: `${process.cwd()}/scripts/trading.sql` });
  t.like(await run('sqlsplit $TRADING | sqlapply -q $SRC'), { code: 0 });
  const statements = await roundTripDump(t, source.url);
  t.is(statements.length, 31);
  await assertEachReplaysAlone(t, target, statements);
});
