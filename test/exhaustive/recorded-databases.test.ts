/*! Databases, recorded and live: any order can be sorted, a folder keeps everything, and each object replays with its dependencies. */
import { whenReady } from '@sqlpipe/engine';
import { Schema, selectWithRelated } from '@sqlpipe/schema';
import type { ExecutionContext } from 'ava';
import { reply, startFaultyServer } from '../faults/faulty-server.js';
import { databases } from '../support/databases.js';
import { inProcess } from '../support/in-process.js';
import { questdb } from '../support/instances.js';
import { engineWith } from '../support/plans.js';
import { execute } from '../support/server.js';
import { test } from '../support/test.js';

const rowsOf = (rows: string[]) => JSON.stringify({ dataset: rows.map(row => [row]), count: rows.length });

/** Sorts the dump of an instance and splits and joins it as a folder; returns its statements. */
async function roundTripDump(t: ExecutionContext, SRC: string): Promise<string[]> {
  const run = await inProcess(t, { SRC });
  const stdout = await run.silent(`set -o pipefail
sqldump -q $SRC > dump && sort -z dump | sqlsort | cmp - dump &&
sqljoin -d d < dump && sqlsplit d | sqlsort | cmp - dump && tr '\\0' '\\1' < dump`);
  return stdout.split('\n\x01').slice(0, -1);
}

/** Each object of a dump with only the dependencies that sqlgrep finds. */
function eachWithDependencies(statements: readonly string[]): string[][] {
  const schema = new Schema(statements);
  const related = { withDeps: true, withDependents: false };
  return statements.map(object =>
    selectWithRelated(schema, ({ statement }) => statement === object, related).map(({ statement }) => statement),
  );
}

for (const { name, dump, statements } of databases) {
  test(`${name}: sqlsort, sqljoin -d and sqlsplit reproduce the dump`, async t => {
    const { url } = await startFaultyServer(t, (socket, { statement }) =>
      socket.end(reply(rowsOf(statement === 'SHOW CREATE DATABASE' ? dump : []))),
    );
    t.deepEqual(await roundTripDump(t, url), statements);
  });

  test(`${name}: each object replays with only its dependencies`, async t => {
    for (const [i, part] of eachWithDependencies(statements).entries()) {
      t.is(part.at(-1), statements[i]);
      const engine = engineWith([]);
      for (const statement of part) await whenReady(() => engine.execute(statement));
    }
  });
}

questdb.test('the trading schema, from a real server to another', async t => {
  const [source, target] = await Promise.all([questdb.start(t), questdb.start(t)]);
  const run = await inProcess(t, { SRC: source.url, TRADING: `${process.cwd()}/scripts/trading.sql` });
  t.like(await run('sqlsplit $TRADING | sqlapply -q $SRC'), { code: 0 });
  const statements = await roundTripDump(t, source.url);
  t.is(statements.length, 31);
  for (const part of eachWithDependencies(statements)) {
    await target.dropAll();
    for (const statement of part) await execute(target, statement);
  }
});
