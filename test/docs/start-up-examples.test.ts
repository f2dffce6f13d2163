/*!
 * The examples for start-up: Compose's service, Kubernetes' Job and init container. The commands of their containers
 * are run with the built programs, also against a server that starts late, restarts, and is killed in between.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { ExecutionContext } from 'ava';
import { parse, parseAllDocuments } from 'yaml';
import { waitUntil } from '../support/background.js';
import { deferred } from '../support/deferred.js';
import { freshFolder } from '../support/folder.js';
import { freePort } from '../support/ports.js';
import { startQuestDBIn, testWithQuestDB } from '../support/questdb.js';
import { recordingProxy } from '../support/recording-proxy.js';
import { DATA } from '../support/server-pool.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { shell, withoutStatements } from '../support/shell.js';
import { test, testWith } from '../support/test.js';

const server = sharedSqlserve();

interface Container {
  command: string[];
  args?: string[];
  securityContext: object;
}
interface Pod {
  securityContext: object;
  containers: [Container];
  initContainers?: [Container];
}

const [job, deployment] = parseAllDocuments(readFileSync('examples/kubernetes-schema.yaml', 'utf8')).map(each =>
  each.toJS(),
);
const { schema: service } = parse(readFileSync('examples/compose.yaml', 'utf8')).services;
const { template, podFailurePolicy } = job.spec;
const pod: Pod = template.spec;
const application: Pod = deployment.spec.template.spec;
const commandOf = ({ command, args = [] }: Container) => [...command, ...args];
const COMMAND: string[] = service.command;

const EXAMPLE = resolve('examples/schema');

const command = (schema: string, url: string): string[] =>
  COMMAND.map(word => word.replace('/schema/', `${schema}/`).replace('http://questdb:9000', url));

/** Runs the command of a container once; `log` is its standard error. */
async function runContainer(t: ExecutionContext, [program = '', ...args]: string[], env: NodeJS.ProcessEnv = {}) {
  const PATH = `${resolve('node_modules/.bin')}:${process.env.PATH}`;
  const child = spawn(program, args, {
    env: { PATH, HOME: '/nonexistent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => void child.kill('SIGKILL'));
  const firstLine = once(createInterface(child.stderr), 'line').then(([line]) => line);
  const log = text(child.stderr);
  const ended = Promise.all([once(child, 'close'), log]).then(([[code], log]) => ({ code, log }));
  return { firstLine, ended };
}

test('all three examples run the same command, without unnecessary privileges', t => {
  t.deepEqual(commandOf(pod.containers[0]), COMMAND);
  t.deepEqual(commandOf(application.initContainers?.[0] as Container), COMMAND);
  t.like(service, { read_only: true, user: '1000:1000', cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
  for (const { securityContext, containers, initContainers = [] } of [pod, application]) {
    t.like(securityContext, { runAsNonRoot: true, runAsUser: 1000 });
    for (const each of [...containers, ...initContainers])
      t.deepEqual(each.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
  }
});

/** A folder as the kubelet mounts a ConfigMap: each file is a link through the link `..data`, which the kubelet replaces. */
async function mountConfigMap(t: ExecutionContext): Promise<string> {
  const folder = await freshFolder(t);
  mkdirSync(join(folder, '..2026_11_22'));
  symlinkSync('..2026_11_22', join(folder, '..data'));
  for (const name of ['10-tables.sql', '20-views.sql']) {
    writeFileSync(join(folder, '..2026_11_22', name), readFileSync(join(EXAMPLE, name)));
    symlinkSync(`..data/${name}`, join(folder, name));
  }
  return folder;
}

test('files are applied in the order of their names; a second run sends no statement', async t => {
  const { url, queries } = await recordingProxy(t, server);
  const run = async (schema: string) => {
    const { code, log } = await (await runContainer(t, command(schema, url))).ended;
    return { code, log: withoutStatements(log) };
  };
  const mounted = await mountConfigMap(t);
  t.deepEqual(await run(mounted), { code: 0, log: `sqlapply: ${url}: 3 statements: 3 applied\n` });
  const sent = () => queries.splice(0).filter(query => !/^\(?(SELECT|SHOW)\b/.test(query));
  t.is(sent().length, 3);
  for (const schema of [mounted, EXAMPLE]) {
    t.deepEqual(await run(schema), { code: 0, log: `sqlapply: ${url}: 3 statements: 3 skipped\n` });
    t.deepEqual(sent(), []);
  }
});

test('the exit status tells whether a retry can help', async t => {
  const final: number[] = podFailurePolicy.rules[0].onExitCodes.values;
  const run = async (schema: string, url: string) => {
    const { code } = await (
      await runContainer(
        t,
        command(schema, url).map(word => word.replace('120', '0')),
      )
    ).ended;
    return code;
  };
  t.is(await run(EXAMPLE, 'http://127.0.0.1:1'), 69);
  t.false(final.includes(69));
  t.is(await run(await freshFolder(t), server.url), 66);
  await server.execute('CREATE TABLE latest (x INT)');
  t.is(await run(EXAMPLE, server.url), 1);
  for (const status of [1, 66, 77]) t.true(final.includes(status));
});

testWith('strace')('nothing is written outside /tmp, and no capability is needed', async t => {
  const folder = await freshFolder(t);
  const trace = join(folder, 'trace');
  const strace = ['strace', '-f', '-qq', '-e', 'trace=file', '-o', trace];
  const drop = ['setpriv', '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'];
  const limits = process.getuid?.() === 0 ? drop : [];
  const { code, log } = await (
    await runContainer(t, [...strace, ...limits, ...command(EXAMPLE, server.url)], { TMPDIR: '/tmp' })
  ).ended;
  t.is(code, 0, log);
  const writes = readFileSync(trace, 'utf8')
    .split('\n')
    .filter(line => /\b(O_WRONLY|O_RDWR|O_CREAT)\b|\b(mkdir|rename|unlink|link|chmod)/.test(line))
    .filter(line => !/= -1 E/.test(line) && !/"\/(tmp|dev|proc)\//.test(line));
  t.deepEqual(writes, []);
});

/** Enough tables, materialized views and views to kill the server before all of them exist. */
const GROUPS = 20;
function writeSchema(folder: string): void {
  const each = (statement: (i: number) => string) => Array.from({ length: GROUPS }, (_, i) => statement(i)).join('\n');
  const files = {
    '1.sql': each(i => `CREATE TABLE t${i} (ts TIMESTAMP, s SYMBOL, x INT) TIMESTAMP(ts) PARTITION BY DAY;`),
    '2.sql': each(
      i => `CREATE MATERIALIZED VIEW m${i} AS (SELECT ts, s, sum(x) x FROM t${i} SAMPLE BY 1h) PARTITION BY DAY;`,
    ),
    '3.sql': each(i => `CREATE VIEW v${i} AS (SELECT * FROM m${i});`),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
}

testWithQuestDB('the schema is complete after the server starts late, is killed and restarts', async t => {
  const [schema, data] = [await freshFolder(t), await freshFolder(t, DATA)];
  writeSchema(schema);
  const address = `127.0.0.1:${await freePort()}`;
  const url = `http://${address}`;
  const start = () => startQuestDBIn(t, data, { QDB_HTTP_BIND_TO: address });

  // As the container engine does: run again after each failure, as often as the policy allows.
  const [, attempts] = /^on-failure:(\d+)$/.exec(service.restart) ?? [];
  const statuses: number[] = [];
  const logs: string[] = [];
  const { promise: isWaiting, resolve: waiting } = deferred();
  const converged = (async () => {
    for (let attempt = 0; attempt <= Number(attempts); attempt++) {
      const { firstLine, ended } = await runContainer(t, command(schema, url));
      firstLine.then(waiting, () => {});
      const { code, log } = await ended;
      statuses.push(code);
      logs.push(log);
      if (code === 0) return;
    }
  })();

  await isWaiting;
  const first = await start();
  const count = async () => {
    const { dataset } = await first.execute('SELECT count() FROM tables()');
    return Number(dataset?.[0]?.[0]);
  };
  await waitUntil('half of the groups', async () => (await count()) >= GROUPS / 2);
  await first.end('SIGUSR2');
  await start();
  await converged;

  t.is(statuses.at(-1), 0, logs.join(''));
  const areUnreachable = statuses.slice(0, -1).every(status => status === 69);
  t.true(areUnreachable, logs.join(''));
  t.regex(logs[0] ?? '', /connection refused; .*; waiting up to 120 s\n/);
  const run = await shell(t);
  t.deepEqual(await run(`cat ${schema}/*.sql > all.sql; sqldiff all.sql ${url}`), { code: 0, stdout: '', stderr: '' });
  const again = await (await runContainer(t, command(schema, url))).ended;
  t.deepEqual(again, { code: 0, log: `sqlapply: ${url}: ${3 * GROUPS} statements: ${3 * GROUPS} skipped\n` });
});
