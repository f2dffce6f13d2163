/*! The steps of a replay: `sqlapply`, `sqlpipe copy` and the library do the same at each of them, and leave none out. */
import { readdirSync, readlinkSync } from 'node:fs';
import { replay, serve } from '@sqlpipe/api';
import { IgnoreRules, toEntry } from '@sqlpipe/schema';
import type { ExecutionContext } from 'ava';
import { type Client, InstanceError } from '../../packages/instance/src/index.js';
import { SourceRowGuard } from '../../packages/replay/src/checks/source-row-guard.js';
import { executeStatements } from '../../packages/replay/src/execute/execute-statements.js';
import { createExecutor } from '../../packages/replay/src/execute/executor.js';
import { ExistingAcl } from '../../packages/replay/src/target/existing-acl.js';
import { IgnoredStatements } from '../../packages/replay/src/target/ignored-statements.js';
import { reply, rowsBody, sendPartAndClose, startFaultyServer } from '../faults/faulty-server.js';
import { inProcess } from '../support/in-process.js';
import { type Instead, recordingProxy } from '../support/recording-proxy.js';
import { test } from '../support/test.js';

interface Run {
  url: string;
  statements: readonly string[];
  /** The input breaks off after the first statement. */
  isDamaged?: boolean;
  allow?: string;
  retries?: number;
}

interface End {
  results: string[];
  /** Whether there was a failure other than a rejected statement. */
  failed: boolean;
}

async function runScript(t: ExecutionContext, script: string, env: NodeJS.ProcessEnv, { allow, retries }: Run) {
  const options = `--report report ${allow ? `--allow ${allow}` : ''} ${retries ? `--retries ${retries}` : ''}`;
  const run = await inProcess(t, { ...env, OPTIONS: options });
  const { code, stdout, stderr } = await run(`${script}; status=$?; cat report 2> /dev/null; exit $status`);
  t.notRegex(stderr, /bug/);
  const lines = stdout.split('\n').filter(Boolean);
  return { results: lines.map(line => (JSON.parse(line) as { result: string }).result), failed: code > 1 };
}

const CALLERS: Record<string, (t: ExecutionContext, run: Run) => Promise<End>> = {
  sqlapply(t, run) {
    const input = run.isDamaged ? `'%s\\n\\0CREATE TAB' "$FIRST"` : `'%s\\n\\0' "$FIRST" "$SECOND"`;
    const [FIRST, SECOND] = run.statements;
    return runScript(t, `printf ${input} | sqlapply $OPTIONS $DST`, { FIRST, SECOND, DST: run.url }, run);
  },
  async 'sqlpipe copy'(t, run) {
    const rows = rowsBody(...run.statements);
    const cut = rows.indexOf(JSON.stringify(run.statements[1]));
    const answer = run.isDamaged ? sendPartAndClose(rows.slice(0, cut)) : undefined;
    const source = await startFaultyServer(t, answer ?? (socket => socket.write(reply(rows))));
    return runScript(t, 'sqlpipe copy $OPTIONS $SRC $DST', { SRC: source.url, DST: run.url }, run);
  },
  async 'the library'(_, { url, statements, isDamaged, allow, retries }) {
    async function* read() {
      for (const statement of statements) {
        yield statement;
        if (isDamaged) throw Object.assign(new Error('the input broke off'), { code: 'DAMAGED' });
      }
    }
    const results: string[] = [];
    try {
      const options = allow ? { allow: [allow] } : {};
      for await (const { result } of replay(read(), { url, retries }, options)) results.push(result);
    } catch (error) {
      return { results, failed: (error as { code?: string }).code !== 'REJECTED' };
    }
    return { results, failed: false };
  },
};

const [A, B] = ["CREATE TABLE 'a' ( \n\tx INT\n);", "CREATE TABLE 'b' ( \n\tx INT\n);"] as const;

const isCreate = (query: string) => /^(--.*\n)?CREATE /.test(query);

/** Starts a target with a schema that records what it is sent. */
async function startTarget(
  t: ExecutionContext,
  schema: readonly string[],
  instead?: (query: string) => Instead | undefined,
) {
  const server = await serve({ schema });
  t.teardown(server.close);
  const { url, queries } = await recordingProxy(t, server, instead);
  return { url, sent: () => queries.filter(query => isCreate(query) || query.startsWith('DROP')).length };
}

for (const [caller, run] of Object.entries(CALLERS)) {
  test(`${caller}: check: nothing is sent if a later statement is not allowed`, async t => {
    const { url, sent } = await startTarget(t, []);
    t.deepEqual(await run(t, { url, statements: [A, 'DROP TABLE b;'] }), { results: [], failed: false });
    t.is(sent(), 0);
  });

  test(`${caller}: spool: nothing is sent if the input breaks off`, async t => {
    const { url, sent } = await startTarget(t, []);
    t.deepEqual(await run(t, { url, statements: [A, B], isDamaged: true }), { results: [], failed: true });
    t.is(sent(), 0);
  });

  test(`${caller}: plan: nothing is sent if it was made for another state`, async t => {
    const { url, sent } = await startTarget(t, []);
    const statements = [`-- plan for state 0123456789abcdef\n${A}`, B];
    t.deepEqual(await run(t, { url, statements }), { results: [], failed: false });
    t.is(sent(), 0);
  });

  test(`${caller}: look ahead: after an existing object, the next ones are not sent`, async t => {
    const { url, sent } = await startTarget(t, [A, B]);
    t.deepEqual(await run(t, { url, statements: [A, B] }), { results: ['skipped', 'skipped'], failed: false });
    t.is(sent(), 1);
  });

  test(`${caller}: execute: a statement whose reply is lost is sent as often as retries permit`, async t => {
    for (const [retries, count] of [
      [0, 2],
      [1, 2],
      [3, 4],
    ] as const) {
      const { url, requests } = await startFaultyServer(t, (socket, { statement }) => {
        if (isCreate(statement)) socket.end();
        else socket.write(reply('{"error":"table does not exist [table=a]","position":18}', 400));
      });
      t.deepEqual(await run(t, { url, statements: [A, B], retries }), {
        results: ['failed', 'not reached'],
        failed: true,
      });
      t.is(requests.filter(({ statement }) => isCreate(statement)).length, count);
    }
  });

  test(`${caller}: execute: a table may be there before its query has ended, or failed`, async t => {
    const copy = "CREATE TABLE 'c' AS (SELECT x FROM a);";
    const { url, sent } = await startTarget(t, [A, "CREATE TABLE 'c' (x INT);"], query =>
      isCreate(query) ? 'closed' : undefined,
    );
    t.deepEqual(await run(t, { url, statements: [copy, B], allow: 'CTAS' }), {
      results: ['unknown', 'not reached'],
      failed: true,
    });
    t.is(sent(), 1);
  });

  test(`${caller}: verify: an object that was not created is noticed`, async t => {
    const isB = (query: string) => /^CREATE TABLE 'b'/.test(query);
    const { url } = await startTarget(t, [], query => (isB(query) ? [200, { ddl: 'OK' }] : undefined));
    t.deepEqual(await run(t, { url, statements: [A, B] }), { results: ['applied', 'differs'], failed: false });
  });

  test(`${caller}: what is allowed is executed`, async t => {
    const { url, sent } = await startTarget(t, [B]);
    const end = await run(t, { url, statements: [A, 'DROP TABLE b;'], allow: 'DROP' });
    t.deepEqual(end, { results: ['applied', 'applied'], failed: false });
    t.is(sent(), 2);
  });
}

for (const statement of [A, 'ALTER TABLE a ADD COLUMN y INT;'])
  test(`a bug after a lost reply is thrown as it is: ${statement}`, async t => {
    const bug = new TypeError('a bug');
    const execute = createExecutor({
      ifExists: 'compare',
      maxResends: 1,
      pollLimits: { timeout: 1 },
      preflightCheck: async () => undefined,
      ignored: new IgnoredStatements(new IgnoreRules()),
      client: {
        execute: () => Promise.reject(new InstanceError('UNREACHABLE', 'no reply', { mayHaveRun: true })),
      },
      existing: {
        acl: { invalidate() {} },
        findPrefetched: async () => undefined,
        invalidate() {},
        fetchDefaults: async () => ({}),
        fetchStatement: async () => A,
        compareStatements: () => Promise.reject(bug),
      },
    } as unknown as Parameters<typeof createExecutor>[0]);
    t.is(await t.throwsAsync(execute(toEntry(statement), false, 0)), bug);
  });

test('an error while the next statement is awaited is thrown when the statements in flight have ended', async t => {
  const bug = new TypeError('a bug');
  async function* readSlowly() {
    yield A;
    await new Promise(setImmediate);
    yield B;
  }
  const unhandled: unknown[] = [];
  const record = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', record);
  const executors = [async () => ({ result: 'applied' }) as const, () => Promise.reject(bug)];
  const options = { keepGoing: false, dryRun: false, signal: new AbortController().signal, locations: [] };
  const outcomes = executeStatements(readSlowly(), executors, {
    ...options,
    endOfRun: new AbortController(),
    planHead: undefined,
  });
  t.is((await outcomes.next()).value.n, 2);
  t.is(await t.throwsAsync(outcomes.next()), bug);
  process.off('unhandledRejection', record);
  t.deepEqual(unhandled, []);
});

test('access control that was not answered is asked again', async t => {
  const fail = (): Promise<never> => Promise.reject(new InstanceError('UNREACHABLE', 'no reply'));
  const source = { label: 'target', fetchPrincipals: fail, fetchRights: fail, fetchRightsOf: fail };
  const acl = new ExistingAcl(source, message => t.fail(message));
  const user = { kind: 'user', name: 'ann' } as const;
  await t.throwsAsync(acl.fetchPrincipal(user), { message: 'no reply' });
  await t.throwsAsync(acl.compareRights('GRANT SELECT ON t TO ann;'), { message: 'no reply' });
  Object.assign(source, { fetchPrincipals: async () => ['CREATE USER ann;'], fetchRights: async () => [] });
  t.is(await acl.fetchPrincipal(user), 'CREATE USER ann;');
  t.false((await acl.compareRights('GRANT SELECT ON t TO ann;'))?.exists);
});

test('the rows below a view are counted by partition: one that is split, merged or written to loses none', async t => {
  let partitions: [string, number][] = [];
  const client = {
    queryRows: async (query: string) => (query.includes('table_partitions') ? partitions : [['t', 7]]),
  } as unknown as Client;
  const countConflicts = async (before: typeof partitions, after: typeof partitions) => {
    const guard = new SourceRowGuard(client);
    partitions = before;
    await guard.recordAsserted('m', ['t']);
    partitions = after;
    return (await guard.fetchConflicts('REFRESH MATERIALIZED VIEW m FULL;')).length;
  };
  const whole: [string, number] = ['2024-01', 10];
  const parts: [string, number][] = [
    ['2024-01', 6],
    ['2024-01-20T000000-000001', 4],
  ];
  t.is(await countConflicts([whole], parts), 0);
  t.is(await countConflicts(parts, [whole]), 0);
  t.is(
    await countConflicts(
      [whole],
      [
        ['2023-12', 1],
        ['2024-01', 11],
      ],
    ),
    0,
  );
  t.is(await countConflicts([], []), 0);
  t.is(await countConflicts([whole], []), 1);
  t.is(
    await countConflicts(
      [whole, ['2024-02', 5]],
      [
        ['2024-01', 9],
        ['2024-02', 90],
      ],
    ),
    1,
  );
});

/** The temporary files that this process has open, and that have no name any more. */
const unnamedFiles = () =>
  readdirSync('/proc/self/fd').flatMap(fd => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).match(/sqlpipe-\w+ \(deleted\)$/) ?? [];
    } catch {
      return []; // closed meanwhile
    }
  });

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('a large input is closed if a replay fails before it sends the first statement', async t => {
  const large = A.replace('x', 'x'.repeat(5_000_000));
  const target = await serve();
  await target.close();
  async function* read() {
    yield large;
  }
  await t.throwsAsync(async () => {
    for await (const _ of replay(read(), target.url, { dryRun: true })) t.fail();
  });
  t.deepEqual(unnamedFiles(), []);
});
