/*!
 * Large input in bounded memory: a gibibyte in 100,000 records through each program that carries a schema, and a
 * record of 64 MiB, which is rejected. Prints a table; exits with 1 if a program exceeds its bound.
 */
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openScope } from '../test/support/scope.js';
import { startServer } from '../test/support/server.js';
import { measure } from './measure.js';

const QUICK = process.argv.includes('--quick');
const RECORDS = QUICK ? 1000 : 100_000;
/** The number of columns that gives a record of 10.7 kB. */
const COLUMNS = 541;

/** The maximum memory of a program and its bash in MiB; Node itself needs 50. */
const BOUND = 256;

const huge = function* () {
  yield "CREATE TABLE 'a' (";
  for (let mebibyte = 0; mebibyte < 64; mebibyte++) yield 'x'.repeat(1024 * 1024);
  yield ' INT);\n';
};

/** Command lines by name. Each uses the files that earlier ones have written. */
const COMMANDS: Record<string, string> = {
  'sqldump $SRC': 'sqldump $SRC > stream',
  sqljoin: 'sqljoin < stream > schema.sql',
  'sqljoin -o FILE': 'sqljoin -o schema.sql < stream',
  'sqlsplit FILE': 'sqlsplit schema.sql > again',
  'cmp with the dump': 'cmp stream again',
  'sqlapply $DST': 'sqlapply $DST < stream',
};

const expectRejection = (command: string) =>
  `${command} 2> message || [ $? = 65 ] && grep -q 'longer than\\|more than' message`;

/** Command lines with a record or a statement of 64 MiB. A short record precedes, because an endless first one is reported as .sql text. */
const REJECTED: Record<string, string> = {
  'sqlsplit FILE': expectRejection('sqlsplit huge > /dev/null'),
  sqljoin: expectRejection("{ printf '\\0'; cat huge; printf '\\0'; } | sqljoin > /dev/null"),
  'sqlapply $DST': expectRejection("{ printf '\\0'; cat huge; printf '\\0'; } | sqlapply $DST"),
};

const scope = openScope();
const folder = mkdtempSync(join(tmpdir(), 'sqlpipe-limits-'));
scope.teardown(async () => rmSync(folder, { recursive: true }));

async function show(what: string, scripts: Record<string, string>, env: NodeJS.ProcessEnv): Promise<void> {
  for (const [name, script] of Object.entries(scripts)) {
    const [measured] = await measure([`cd ${folder}; ${script}`], 1, env);
    if (!measured) continue;
    const { seconds, mebibytes } = measured;
    const over = mebibytes > BOUND;
    console.log(
      `| ${what} | ${name} | ${seconds.toFixed(1)} s | ${mebibytes.toFixed(0)} MiB |${over ? ' TOO MUCH' : ''}`,
    );
    if (over) process.exitCode = 1;
  }
}

try {
  const server = ['--import=tsx', 'bench/stub-server.ts', `${RECORDS}`, `${COLUMNS}`];
  const { url } = await startServer(scope, process.execPath, server);
  await pipeline(Readable.from(huge()), createWriteStream(join(folder, 'huge')));
  console.log('| what | through | time | peak memory |\n| --- | --- | --- | --- |');
  await show(`${RECORDS} records of 10.7 kB`, COMMANDS, { SRC: url, DST: url });
  await show('one of 64 MiB', REJECTED, { DST: url });
} finally {
  await scope.end();
}
