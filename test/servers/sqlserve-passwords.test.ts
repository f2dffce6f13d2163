/*! sqlserve's passwords and tokens: the time of hashing, and expiry. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JournalEntry } from '@sqlpipe/engine';
import { formatLine } from '../../packages/server/src/journal.js';
import { Service } from '../../packages/server/src/service.js';
import { deferred } from '../support/deferred.js';
import { freshFolder } from '../support/folder.js';
import { admin, basic, bearer, executeAs, setUp } from '../support/principals.js';
import type { Server } from '../support/server.js';
import { serveFolder, startSqlserve } from '../support/sqlserve.js';
import { fileScope, test } from '../support/test.js';

const scope = fileScope();
let server: Server;
test.before(async () => {
  // A quarter of the real work, which is still much more than that of a request.
  server = await startSqlserve(scope, ['--edition', 'enterprise'], { SCRYPT_N: '4096' });
  await setUp(server, "create user ann with password 'right'", 'grant http to ann', 'create user empty');
});

async function measureLogin(user: string): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 3; n++) {
    const start = performance.now();
    await executeAs(server, basic(user, `wrong${n}`), 'show tables');
    times.push(performance.now() - start);
  }
  return Math.min(...times);
}

test('the time of a failed login does not reveal which users exist', async t => {
  const before = await measureLogin('ann');
  const times = new Map<string, number>();
  for (const user of ['nobody', 'empty', 'admin', 'ADMIN', '']) times.set(user, await measureLogin(user));
  const known = Math.min(before, await measureLogin('ann')); // the machine may be slower for a while
  for (const [user, time] of times) t.true(time > known / 3, `'${user}' is refused in ${time} ms, ann in ${known} ms`);
});

test('passwords are hashed outside the event loop', async t => {
  let answered = 0;
  const logins = Array.from({ length: 8 }, async (_, n) => {
    await executeAs(server, basic('ann', `wrong${n}`), 'show tables');
    answered++;
  });
  t.is((await fetch(`${server.url}/ping`)).status, 204);
  t.true(answered < 4, `${answered} of 8 logins came first`);
  await Promise.all(logins);
});

test('a password is hashed after the permission check, and only one per statement', async t => {
  const ann = basic('ann', 'right');
  t.is((await executeAs(server, ann, 'show tables')).status, 200);
  const hash = await measureLogin('ann');
  const start = performance.now();
  for (let n = 0; n < 20; n++) {
    t.like(await executeAs(server, ann, `create user u${n} with password 'p'`), {
      status: 403,
      error: 'Access denied for ann [CREATE USER]',
    });
    t.is((await executeAs(server, ann, "alter user empty with password 'p'")).status, 403);
  }
  const each = (performance.now() - start) / 40;
  t.true(each < hash / 3, `${each} ms for a denial, ${hash} ms for a hash`);
  const many = `create user many${" with password 'p'".repeat(1200)}`;
  t.like(await executeAs(server, admin, many), {
    status: 400,
    error: 'unexpected token [with]',
    position: many.indexOf('with', many.indexOf('with') + 1),
  });
});

test('a user may change their own password', async t => {
  await setUp(server, "create user joe with password 'old'", 'grant http to joe');
  t.is((await executeAs(server, basic('joe', 'old'), "alter user JOE with password 'it''s'")).status, 200);
  t.is((await executeAs(server, basic('joe', 'old'), 'show tables')).status, 401);
  t.is((await executeAs(server, basic('joe', "it's"), 'show tables')).status, 200);
});

test('a group cannot log in', async t => {
  await setUp(server, 'create group readers', 'grant http to readers');
  for (const end of ["with password 'p'", "create token type rest with ttl '1d'", 'disable'])
    t.is((await executeAs(server, admin, `alter group readers ${end}`)).status, 400, end);
  t.is((await executeAs(server, basic('readers', 'p'), 'show tables')).status, 401);
});

const readToken = async (journal: string) =>
  /"expiresAt":(?<expires>\d+)(?:,"renewedLifetime":(?<refresh>\d+))?/.exec(
    (await readFile(journal, 'utf8')).trim().split('\n').at(-1) ?? '',
  )?.groups ?? {};

/** Restarts a sqlserve with a token whose expiry in the journal is set to the given time. */
async function startWithToken(t: Parameters<typeof freshFolder>[0], at: number, refresh: string) {
  const folder = await freshFolder(t);
  const journal = join(folder, 'journal.jsonl');
  const first = await serveFolder(t, folder);
  await setUp(first, 'create service account robot', 'grant http to robot');
  const made = await executeAs(
    first,
    admin,
    `alter service account robot create token type rest with ttl '1h'${refresh}`,
  );
  const [, token, expires] = (made.dataset?.[0] ?? []) as string[];
  await first.end();
  const lines = (await readFile(journal, 'utf8')).trimEnd().split('\n');
  const changed = lines.map(line => JSON.parse(line.replace(/"expiresAt":\d+/, `"expiresAt":${at}`)).entries);
  await writeFile(journal, changed.map(formatLine).join(''));
  const second = await serveFolder(t, folder);
  return { token: String(token), expires: String(expires), journal, made, second };
}

test('a token expires after its TTL', async t => {
  const { token, expires, made, second } = await startWithToken(t, Date.now() - 1, '');
  const found = made.columns?.map(({ name, type }) => `${name} ${type}`);
  t.deepEqual(found, ['name STRING', 'token STRING', 'expires_at TIMESTAMP', 'refresh BOOLEAN']);
  t.regex(expires, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  const left = Date.parse(expires) - Date.now();
  t.true(left > 3_500_000 && left <= 3_600_000, `${left} ms`);
  t.is((await executeAs(second, bearer(token), 'show tables')).status, 401);
  t.deepEqual((await executeAs(second, admin, 'show service account robot')).dataset?.at(-1), ['REST Token', false]);
  for (let i = 0, tokens: string[] = []; i < 2; i++) {
    const { dataset } = await executeAs(
      second,
      admin,
      "alter service account robot create token type rest with ttl '1h'",
    );
    tokens = [...tokens, String(dataset?.[0]?.[1])];
    for (const each of tokens) t.is((await executeAs(second, bearer(each), 'show tables')).status, 200);
  }
});

test('each login extends a token with REFRESH, and no other token', async t => {
  const soon = Date.now() + 600_000;
  const renewed = await startWithToken(t, soon, ' refresh');
  t.is((await executeAs(renewed.second, bearer(renewed.token), 'show tables')).status, 200);
  await renewed.second.end();
  t.true(Number((await readToken(renewed.journal)).expires) > soon + 2_000_000);
  const fixed = await startWithToken(t, soon, '');
  t.is((await executeAs(fixed.second, bearer(fixed.token), 'show tables')).status, 200);
  await fixed.second.end();
  t.regex(await readFile(fixed.journal, 'utf8'), new RegExp(`"expiresAt":${soon}}`));
});

test('a token that is used while another statement is stored is extended on disk too', async t => {
  const [reached, opened] = [deferred(), deferred()];
  const lines: string[] = [];
  // The fourth change waits for the journal, as for a slow disk.
  const append = async (changes: readonly JournalEntry[]) => {
    if (lines.push(JSON.stringify(changes)) !== 4) return;
    reached.resolve();
    await opened.promise;
  };
  const { service, caller, logIn } = await createRobot(append);
  const slow = service.execute('create table t (x int)', caller);
  await reached.promise;
  const asked = service.execute('select 1', await logIn());
  opened.resolve();
  await Promise.all([slow, asked]);
  t.regex(lines[4] ?? '', /"name":"robot".*"expiresAt":/);
});

test('a token that is used for a rejected statement is extended on disk too', async t => {
  const lines: string[] = [];
  const { service, logIn } = await createRobot(async changes => void lines.push(JSON.stringify(changes)));
  await t.throwsAsync(service.execute('drop table missing', await logIn()), { message: /does not exist/ });
  t.regex(lines[3] ?? '', /"name":"robot".*"expiresAt":/);
});

/** Starts a service with an account that logs in with a token. @param append stores what three statements change */
async function createRobot(append: (changes: readonly JournalEntry[]) => Promise<void>) {
  const service = new Service('enterprise', undefined, { naming: 'by expression', version: '10.0.0' });
  service.journal = { append, close: async () => {} };
  const caller = { name: 'admin' };
  for (const statement of ['create service account robot', 'grant http to robot'])
    await service.execute(statement, caller);
  const made = await service.execute(
    "alter service account robot create token type rest with ttl '1h' refresh",
    caller,
  );
  const token = made.kind === 'rows' ? String(made.rows[0]?.[1]) : '';
  const logIn = async () => {
    const robot = await service.authenticate(bearer(token));
    if (robot?.name !== 'robot') throw new Error('the token is not accepted');
    return robot;
  };
  return { service, caller, logIn };
}

test('the journal is closed when the last statement is stored, also if its client has hung up', async t => {
  const events: string[] = [];
  const stored = deferred();
  const service = new Service('oss', undefined, { naming: 'by expression', version: '10.0.0' });
  service.journal = {
    append: () => stored.promise.then(() => void events.push('stored')),
    close: async () => void events.push('closed'),
  };
  void service.execute('create table t (x int)', { name: '' });
  const closed = service.close();
  stored.resolve();
  await closed;
  t.deepEqual(events, ['stored', 'closed']);
});

test('a disabled account keeps its token, which works again when it is enabled', async t => {
  await setUp(server, 'create service account paused', 'grant http to paused');
  const made = await executeAs(server, admin, "alter service account paused create token type rest with ttl '1d'");
  const token = bearer(String(made.dataset?.[0]?.[1]));
  for (const [verb, status] of Object.entries({ disable: 401, enable: 200 })) {
    await setUp(server, `alter service account paused ${verb}`);
    t.is((await executeAs(server, token, 'show tables')).status, status, verb);
  }
});
