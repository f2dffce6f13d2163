/*!
 * A fleet: applies one schema to many instances 20 ms away, with a varying number of programs at once (xargs -P) and of
 * statements in flight (--jobs). Prints a table. INSTANCES sets the number of instances.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLatencyProxy } from '../test/support/latency-proxy.js';
import { openScope } from '../test/support/scope.js';
import type { Server } from '../test/support/server.js';
import { startSqlserve } from '../test/support/sqlserve.js';
import { measure } from './measure.js';

const INSTANCES = Number(process.env.INSTANCES ?? 20);
const [TABLES, DISTANCE] = [30, 20];

const WAYS: readonly [programs: number, jobs: number][] = [
  [1, 1],
  [1, 8],
  [8, 1],
  [8, 8],
];

const scope = openScope();
const folder = mkdtempSync(join(tmpdir(), 'sqlpipe-fleet-'));
scope.teardown(async () => rmSync(folder, { recursive: true }));

try {
  const [stream, fleet] = [join(folder, 'stream'), join(folder, 'fleet')];
  const tables = Array.from({ length: TABLES }, (_, i) => `CREATE TABLE 't${i}' ( \n\tx INT\n);\n\0`);
  writeFileSync(stream, tables.join(''));
  const servers: Server[] = [];
  const urls: string[] = [];
  for (let i = 0; i < INSTANCES; i++) {
    const server = await startSqlserve(scope);
    servers.push(server);
    urls.push((await startLatencyProxy(scope, server.url, () => DISTANCE)).url);
  }
  writeFileSync(fleet, urls.map(url => `${url}\n`).join(''));
  const reset = async () => {
    for (const server of servers) await server.dropAll();
  };
  console.log('| programs at once | --jobs | time |\n| --- | --- | --- |');
  for (const [programs, jobs] of WAYS) {
    const script = `xargs -P ${programs} -I{} sqlapply -q --jobs ${jobs} {} ${stream} < ${fleet}`;
    const [measured] = await measure([script], 1, {}, reset);
    console.log(`| ${programs} | ${jobs} | ${measured?.seconds.toFixed(1)} s |`);
  }
} finally {
  await scope.end();
}
