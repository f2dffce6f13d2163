/*! The library: what its examples do not show. */
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import * as path from 'node:path';
import { diff, dump, isSqlpipeError, join, type Outcome, parse, plan, replay, serve, split } from '@sqlpipe/api';
import { libraryFolder } from '../support/library.js';
import { fileScope, test } from '../support/test.js';

const file = fileScope();
let folder: string;

test.before(async () => {
  folder = await libraryFolder(file);
});

/** What a promise is rejected with, as far as others may see it. */
async function failureOf(work: () => AsyncIterable<unknown> | Promise<unknown>) {
  try {
    const result = work();
    if (Symbol.asyncIterator in result) for await (const _ of result);
    else await result;
    return 'no failure';
  } catch (error) {
    return isSqlpipeError(error) ? `${error.code} ${error.message}` : error;
  }
}

test('a server has users and permissions, is an instance itself, and can be disposed of', async t => {
  const schema = ['CREATE TABLE a (x INT)', "CREATE USER ann WITH PASSWORD 'secret1'", 'GRANT SELECT ON a TO ann'];
  const server = await serve({ schema, edition: 'enterprise', user: 'root', password: 'secret2' });
  t.teardown(server.close);
  t.regex(server.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  t.is((await diff(schema, server)).total, 3);
  t.deepEqual((await diff(schema, server)).differences, []);
  t.regex(String(await failureOf(() => dump(server.url))), /^DENIED .*; give user and password, or token$/);
  const wrong = String(await failureOf(() => dump({ url: server.url, user: 'root', password: 'secret3' })));
  t.regex(wrong, /^DENIED .* the server rejected user 'root' \(the options\); /);
  t.false(/secret/.test(wrong));
  await server[Symbol.asyncDispose]();
  t.regex(String(await failureOf(() => dump(server))), /^UNREACHABLE /);
  const noLogin = { user: undefined, password: undefined } as object;
  await using other = await serve({ edition: 'enterprise', ...noLogin });
  t.like(other, { user: 'admin', password: 'quest' });
});

test('closing a server closes connections that others keep open', async t => {
  const server = await serve();
  const idle = connect(Number(new URL(server.url).port), '127.0.0.1');
  await once(idle, 'connect');
  await server.close();
  await once(idle.resume(), 'close');
  t.pass();
});

test('a server does not start with a statement that it rejects, and says which without its secrets', async t => {
  const schema = ['CREATE TABLE a (x INT)', "CREATE USER ann WITH PASSWORD 'secret' WHATEVER"];
  const message = String(await failureOf(() => serve({ schema, edition: 'enterprise' })));
  t.regex(message, /^REJECTED schema: statement 2: /);
  t.false(message.includes('secret'), message);
  t.is(await failureOf(() => serve({ user: 'ann' })), 'USAGE serve: give both user and password, or neither');
});

test('text is split and joined as the programs do, and what is no text is an error with its place', async t => {
  const text = "CREATE TABLE a (x INT);\n\n-- why; ';\nCREATE VIEW v AS (SELECT ';' FROM a);\n\n";
  t.is(await join(split(text)), text);
  t.is(await join([]), '');
  t.is(
    await join(split({ path: path.join(folder, 'schema.sql') })),
    readFileSync(path.join(folder, 'schema.sql'), 'utf8'),
  );
  t.regex(String(await failureOf(() => split("CREATE TABLE a (x INT);\nSELECT 'open"))), /^DAMAGED text:2:8: /);
  t.is(await failureOf(() => split('\ud800')), 'DAMAGED text: contains half of a surrogate pair');
  t.regex(String(await failureOf(() => split({ path: 'no-such.sql' }))), /^NOINPUT /);
  t.regex(String(await failureOf(() => join(['SELECT 1; SELECT 2']))), /^DAMAGED a second statement /);
});

test('what is no statement of QuestDB is an error with its position', t => {
  for (const text of ['', ' ; ', '-- nothing'])
    t.like(
      t.throws(() => parse(text), { any: true }),
      { code: 'DAMAGED' },
      text,
    );
  const statement = '\n  CREATE TABLE a (x NOTHING)';
  const error = t.throws(() => parse(statement), { any: true });
  t.true(isSqlpipeError(error));
  t.like(error, { code: 'REJECTED', position: statement.indexOf('NOTHING') });
  const printed = "CREATE TABLE 'a' ( \n\ttable INT,\n\tx NOTHING\n);"; // as a server that leaves out the quotes
  const found = t.throws(() => parse(printed), { any: true });
  t.like(found, { code: 'REJECTED', position: printed.indexOf('table') });
  t.deepEqual(parse('grant select on a to ann'), { kind: 'grant', name: 'ann', verb: 'GRANT' });
});

test('a plan is for the instance as it is: without extra objects, with the rights that its statements need', async t => {
  const server = await serve({ schema: ['CREATE TABLE a (x INT)', 'CREATE TABLE extra (y INT)'] });
  t.teardown(server.close);
  const wanted = ['CREATE TABLE a (x INT, z INT)'];
  const { statements, verbs, omissions } = await plan(wanted, server, { ignoreExtra: true });
  t.deepEqual([statements.length, verbs, omissions], [1, ['ALTER'], []]);
  t.like((await plan(wanted, server)).omissions, [{ kind: 'table', name: 'extra', allowLoss: ['drop:extra'] }]);
  t.is((await plan(wanted, server, { allowLoss: ['drop:extra'] })).statements.length, 2);
});

const [QUOTES, TRADES] = ['CREATE TABLE quotes (bid DOUBLE)', 'CREATE TABLE trades (qty INT)'];

async function collect(outcomes: AsyncIterable<Outcome>): Promise<Outcome[]> {
  const all: Outcome[] = [];
  for await (const outcome of outcomes) all.push(outcome);
  return all;
}

const resultsOf = async (outcomes: AsyncIterable<Outcome>) =>
  (await collect(outcomes)).map(({ name, result }) => `${name} ${result}`);

test('a folder is applied, with the place of each statement; the second time everything is skipped', async t => {
  const server = await serve();
  t.teardown(server.close);
  const schema = path.join(folder, 'applied');
  await join([QUOTES, TRADES], { folder: schema });
  t.deepEqual(await resultsOf(replay(schema, server, { dryRun: true })), [
    'quotes would create',
    'trades would create',
  ]);
  t.deepEqual(await collect(dump(server) as AsyncIterable<never>), []);
  const applied = await collect(replay(schema, server, { jobs: 3 }));
  t.like(applied, [{ n: 1, kind: 'table', name: 'quotes', result: 'applied', proven: true, properties: [] }, { n: 2 }]);
  t.deepEqual(applied[0]?.location, { path: path.join(schema, 'tables/quotes.sql'), line: 1 });
  t.deepEqual(await resultsOf(replay(schema, server)), ['quotes skipped', 'trades skipped']);
  t.deepEqual(await resultsOf(replay([QUOTES], server, { ifExists: 'fail' })), ['quotes rejected']);
});

test('a rejected statement is an outcome and ends the run, unless it is to go on', async t => {
  const server = await serve({ schema: ['CREATE TABLE quotes (ask INT)'] });
  t.teardown(server.close);
  const schema = ['CREATE VIEW v AS (SELECT nope FROM quotes)', QUOTES, TRADES];
  const [rejected, ...others] = await collect(replay(schema, server));
  t.like(rejected, { result: 'rejected', error: 'Invalid column: nope', position: 25 });
  const results = others.map(({ result }) => result);
  t.deepEqual(results, ['not reached', 'not reached']);
  t.deepEqual(await resultsOf(replay(schema, server, { keepGoing: true })), [
    'v rejected',
    'quotes differs',
    'trades applied',
  ]);
  const [outcome] = await collect(replay([QUOTES], server));
  t.like(outcome?.properties[0], { property: "column 'bid'", a: 'DOUBLE', b: 'none' });
});

test('a plan is applied with its verbs, and only to the state that it was made for', async t => {
  const server = await serve({ schema: ['CREATE TABLE quotes (ask INT)'] });
  t.teardown(server.close);
  const wanted = ['CREATE TABLE quotes (ask INT, bid DOUBLE)', TRADES];
  const { statements, verbs: allow } = await plan(wanted, server);
  const found = String(await failureOf(() => replay(statements, server)));
  t.regex(found, /^REJECTED .*; nothing was sent\n {2}hint: use --allow-plan to send it$/);
  const results = (await collect(replay(statements, server, { allow }))).map(({ result }) => result);
  t.deepEqual(results, ['applied', 'applied']);
  t.deepEqual((await diff(wanted, server)).differences, []);
  const seen = String(await failureOf(() => replay(statements, server, { allow })));
  t.regex(seen, /^REJECTED .* made for a different state/);
});

test('an instance that fails is an error, after the outcomes of all statements', async t => {
  const server = await serve();
  await server.close();
  const outcomes: string[] = [];
  const failure = await failureOf(async () => {
    for await (const { name, result } of replay([QUOTES, TRADES], server)) outcomes.push(`${name} ${result}`);
  });
  t.regex(String(failure), /^UNREACHABLE /);
  t.deepEqual(outcomes, ['quotes failed', 'trades not reached']);
});

test('a run that is interrupted does not reach the rest', async t => {
  const server = await serve();
  t.teardown(server.close);
  const signal = AbortSignal.abort();
  t.deepEqual(await resultsOf(replay([QUOTES, TRADES], server, { signal })), [
    'quotes not reached',
    'trades not reached',
  ]);
});

test('a protected instance is changed only by its name', async t => {
  const server = await serve();
  t.teardown(server.close);
  const config = path.join(folder, 'sqlpipe');
  mkdirSync(config);
  writeFileSync(path.join(config, 'instances.toml'), `[prod]\nurl = "${server.url}"\nprotected = true\n`, {
    mode: 0o600,
  });
  const instance = { url: 'prod', env: { XDG_CONFIG_HOME: folder } };
  const message = 'USAGE prod is protected; to change it, give --yes-to=prod';
  t.is(await failureOf(() => replay([QUOTES], instance)), message);
  t.is(await failureOf(() => replay([QUOTES], instance, { yesTo: 'dev' })), message);
  t.deepEqual(await resultsOf(replay([QUOTES], instance, { yesTo: 'prod' })), ['quotes applied']);
  for (const jobs of [0, 65])
    t.is(await failureOf(() => replay([], server, { jobs })), 'USAGE jobs must be a number from 1 to 64');
});

test('the rows of CREATE TOKEN go to the caller, and nowhere else', async t => {
  const server = await serve({ schema: ['CREATE SERVICE ACCOUNT feed'], edition: 'enterprise' });
  t.teardown(server.close);
  const rows: unknown[][] = [];
  const statement = "ALTER SERVICE ACCOUNT feed CREATE TOKEN TYPE REST WITH TTL '1d'";
  const outcomes = await collect(replay([statement], server, { allow: ['ALTER'], onRows: some => rows.push(...some) }));
  t.is(outcomes[0]?.result, 'applied');
  const token = rows.flat().find(cell => String(cell).startsWith('qt1'));
  t.truthy(token);
  t.false(JSON.stringify(outcomes).includes(String(token)));
});

test('arguments of a wrong type are typed errors, before anything is sent', async t => {
  for (const wrong of [undefined, null, 5, {}, { url: 5 }, true]) {
    const calls: [string, () => Promise<unknown>][] = [
      ['diff', () => diff(wrong as never, [])],
      ['plan', () => plan([], wrong as never)],
      ['replay', async () => replay([], wrong as never).next()],
      ['dump', async () => dump(wrong as never).next()],
      ['join', () => join(wrong as never)],
      ['split', async () => split(wrong as never).next()],
      ['split of a path', async () => split({ path: wrong } as never).next()],
      ['parse', async () => parse(wrong as never)],
    ];
    for (const [name, call] of calls)
      await t.throwsAsync(call, { name: 'CodedError', code: 'USAGE' }, `${name}(${JSON.stringify(wrong)})`);
  }
  await t.throwsAsync(diff([5 as never], []), { code: 'USAGE', message: 'a statement of a schema is not a string' });
  await t.throwsAsync(diff(['CREATE TABLE "\ud800" (x INT)'], []), {
    code: 'DAMAGED',
    message: 'a statement of a schema contains half of a surrogate pair',
  });
});
