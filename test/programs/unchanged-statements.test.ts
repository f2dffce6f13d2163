/*! Handwritten statements applied repeatedly: unchanged statements are skipped, and a change is the only difference. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { CASES, type Case, type Change } from '../cases/meaning.js';
import { freshFolder } from '../support/folder.js';
import { inProcess } from '../support/in-process.js';
import { questdb, type Service, sqlserve } from '../support/instances.js';
import { parseJsonLines } from '../support/json-lines.js';
import { fileScope } from '../support/scope.js';
import type { Server } from '../support/server.js';

const scope = fileScope();
const servers = new Map<Service, Promise<Server>>();

/** A bash with an instance at $URL and files of statements in $DIR. */
async function shellWithFiles(t: ExecutionContext, server: Server, files: Record<string, readonly string[]>) {
  const DIR = await freshFolder(t);
  for (const [name, statements] of Object.entries(files))
    await writeFile(join(DIR, name), statements.map(terminate).join('\n'));
  const run = await inProcess(t, { URL: server.url, DIR });
  const apply = (file: string, options = '') =>
    run(`set -o pipefail; sqlsplit $DIR/${file} | sqlapply --allow CTAS ${options} --report $DIR/report $URL`);
  const report = async (): Promise<{ name: string; result: string }[]> =>
    parseJsonLines(await readFile(join(DIR, 'report'), 'utf8'));
  return { run, apply, report };
}

const terminate = (statement: string): string => (/;\s*$/.test(statement) ? statement : `${statement};`);

async function emptyServer(service: Service): Promise<Server> {
  const server = servers.get(service) ?? service.start(scope);
  servers.set(service, server);
  await (await server).dropAll();
  return server;
}

/** The nth change of each case that has one. */
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

/** The message about one object. */
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
    const diff = await run('sqldiff $DIR/schema.sql $URL');
    t.deepEqual({ ...diff, stdout: diff.stdout.toString() }, { code: 0, stdout: '', stderr: '' });
  });

  service.test(`${service.name}: a small change is reported as a difference of that property only`, async t => {
    const server = await (servers.get(service) as Promise<Server>);
    const files = ROUNDS.map((round, i) => [`changed${i}.sql`, round.map(({ changed }) => changed)] as const);
    const { run, apply, report } = await shellWithFiles(t, server, Object.fromEntries(files));
    for (const [i, round] of ROUNDS.entries()) {
      const expected = round.map(({ name, property }) => [name, [property]]);
      const diff = await run(`sqldiff --json --ignore-extra $DIR/changed${i}.sql $URL`);
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
