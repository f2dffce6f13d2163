/*!
 * What sqlapply does with existing objects and other rejections, by `--if-exists`; and its hints for continuing after a failure. The
 * tests follow each hint, which has to complete the run.
 */
import type { ExecutionContext } from 'ava';
import { reply, startFaultyServer } from '../faults/faulty-server.js';
import { inProcess } from '../support/in-process.js';
import { recordingProxy } from '../support/recording-proxy.js';
import { runSqlapply } from '../support/replay.js';
import { sharedSqlserve } from '../support/shared-sqlserve.js';
import { test } from '../support/test.js';

const target = sharedSqlserve();

const PRINTED = "CREATE TABLE 't' ( \n\tx INT\n);";
const BY_HAND = 'create table t (x int);';
const WRONG = 'create view v as (select nope from t);';
const RIGHT = 'create view v as (select x from t);';

/** Applies the text; returns the shell and the hint at the end of the last message. */
async function applyForHint(t: ExecutionContext, url: string, text: string, options = '') {
  const run = await inProcess(t, { DST: url });
  const { stderr } = await run(`sqlsplit <<< "${text}" | sqlapply ${options} $DST`);
  return { run, advice: / rejected.*?(\n.*)?\n$/.exec(stderr)?.[1] ?? stderr };
}

for (const [title, text, options, advice, then] of [
  ['a statement as the server prints it', PRINTED, '', '', ''],
  ['a statement written by hand', BY_HAND, '', '', ''],
  ['with --if-exists skip', BY_HAND, '--if-exists skip', '', '--if-exists skip'],
  ['with --no-verify', PRINTED, '--no-verify', '', ''],
  ['with --if-exists fail', PRINTED, '--if-exists fail', ' with --if-exists compare', ''],
] as const)
  test(`resume hint: ${title}`, async t => {
    const { run, advice: hint } = await applyForHint(t, target.url, `${text}${WRONG}`, options);
    t.is(
      hint,
      `\n  hint: fix the error and rerun the same command${advice}: it skips ${then ? 'existing' : 'equal'} objects`,
    );
    t.like(await run(`sqlsplit <<< "${text}${RIGHT}" | sqlapply ${then} $DST`), { code: 0, stderr: '' });
  });

test('resume hint: --if-exists fail and an existing object suggest --if-exists compare', async t => {
  const run = await inProcess(t, { DST: target.url });
  await run(`sqlsplit <<< "${BY_HAND}" | sqlapply $DST`);
  const again = await run(`sqlsplit <<< "${BY_HAND}" | sqlapply --if-exists fail $DST`);
  t.regex(
    again.stderr,
    /\n {2}hint: to continue, rerun the same command with --if-exists compare: it skips equal objects\n$/,
  );
  t.like(await run(`sqlsplit <<< "${BY_HAND}" | sqlapply $DST`), { code: 0, stderr: '' });
});

test('resume hint: an object that differs is to be changed', async t => {
  const run = await inProcess(t, { DST: target.url });
  await run(`sqlsplit <<< "${BY_HAND}" | sqlapply $DST`);
  const { stderr } = await run(`sqlsplit <<< 'create table t (x long);' | sqlapply $DST`);
  t.regex(
    stderr,
    /\n {2}hint: change the object or the statement, then rerun the same command: it skips equal objects\n$/,
  );
});

test('resume hint: an existing object that cannot be shown suggests --if-exists skip', async t => {
  const { url } = await startFaultyServer(t, (socket, { statement }) => {
    const error = statement.startsWith('SHOW') ? 'permission denied' : 'table already exists';
    socket.write(reply(JSON.stringify({ error, position: 0 }), 400));
  });
  const { advice } = await applyForHint(t, url, PRINTED);
  t.is(advice, '\n  hint: to continue, rerun the same command with --if-exists skip: it skips existing objects');
});

test('resume hint: an ALTER that was applied is to be left out of the rerun', async t => {
  const { advice } = await applyForHint(
    t,
    target.url,
    `${PRINTED}alter table t add column y int;${WRONG}`,
    '--allow ALTER',
  );
  t.is(
    advice,
    '\n  hint: fix the error and rerun the same command, without each ALTER that was applied: it skips equal objects',
  );
});

test('resume hint: none after a dry run that finds a different object', async t => {
  await target.execute('create table t (x long)');
  const { advice } = await applyForHint(t, target.url, PRINTED, '--dry-run');
  t.regex(advice, /: 1 statement: 1 differs\n$/);
  for (const [ifExists, result, code] of [
    ['skip', 'skipped: 1 statement', 0],
    ['fail', "rejected table 't'", 1],
  ]) {
    const run = await inProcess(t, { DST: target.url });
    const outcome = await run(`sqlsplit <<< "${PRINTED}" | sqlapply --dry-run --if-exists ${ifExists} $DST`);
    t.deepEqual([outcome.code, outcome.stdout], [code, `${result}\n`]);
  }
});

for (const text of ['grant select on t to u;', 'create table t as (select 1);'])
  test(`resume hint: the user has to check a statement with unknown outcome: ${text}`, async t => {
    const { url } = await startFaultyServer(t, (socket, { statement }) =>
      statement.startsWith('SHOW') ? socket.end(reply('{"error":"no","position":0}', 400)) : socket.destroy(),
    );
    const { advice } = await applyForHint(t, url, text, '--allow CTAS');
    t.regex(
      advice,
      /hint: fix the error and rerun the same command, without statement 1 if it is in force there: it skips /,
    );
  });

test('a rejected statement is reported as rejected even if the target then stops answering', async t => {
  const { url } = await startFaultyServer(t, (socket, { statement }) =>
    statement.startsWith('CREATE') ? socket.write(reply('{"error":"table already exists"}', 400)) : socket.destroy(),
  );
  const run = await inProcess(t, { DST: url });
  const { stderr } = await run.exits(69, `sqlsplit <<< "${PRINTED}" | sqlapply $DST`);
  t.regex(stderr, /table 't'\): table already exists, and it cannot be compared: .*closed before a reply arrived/);
  t.regex(stderr, /: 0 of 1 applied, 1 rejected\n {2}hint: fix the error and rerun the same command: it skips /);
});

test('--if-exists fail does not take an existing object for a new one whose reply was lost', async t => {
  await target.execute(PRINTED);
  const { url } = await recordingProxy(t, target, query => (query.startsWith('CREATE') ? 'closed' : undefined));
  const { code, results } = await runSqlapply(t, url, { text: PRINTED, options: '--if-exists fail' });
  t.deepEqual([code, results], [69, ['unknown']]);
});

const T = "CREATE TABLE 't' ( \n\tx INT\n);";
const VIEW = 'CREATE VIEW v AS (SELECT x FROM t);';

/** Replays the text on an instance with the table `t`, whose column has the given type. */
async function replayOnto(t: ExecutionContext, type: string, text: string, options: string) {
  await target.execute(`CREATE TABLE t (x ${type})`);
  const outcome = await runSqlapply(t, target.url, { text, options });
  const [[definition = ''] = []] = (await target.execute('SHOW CREATE TABLE t')).dataset ?? [];
  return { ...outcome, definition };
}

for (const statement of [
  'CREATE VIEW bad AS (SELECT x FROM nope);',
  'CREATE MATERIALIZED VIEW bad AS (SELECT ts, max(x) AS x FROM nope SAMPLE BY 1h) PARTITION BY DAY;',
  'ALTER TABLE nope ADD COLUMN y INT;',
  'DROP TABLE nope;',
])
  for (const ifExists of ['skip', 'compare', 'fail'])
    test(`--if-exists ${ifExists} does not hide a missing object: ${statement}`, async t => {
      const { code, results, report, rejects } = await replayOnto(
        t,
        'INT',
        `${statement} ${VIEW}`,
        `--allow ALTER,DROP --if-exists ${ifExists}`,
      );
      t.is(code, 1);
      t.deepEqual(results, ['rejected', 'not reached']);
      t.regex(report[0]?.error ?? '', /does not exist/);
      t.true(rejects?.startsWith(statement));
    });

test('--if-exists skip hides no other kind of rejection', async t => {
  for (const error of [
    'boom',
    'table name is reserved',
    'table exists in a state that is not known',
    'permission denied',
  ]) {
    const { url } = await startFaultyServer(t, socket =>
      socket.write(reply(JSON.stringify({ error, position: 0 }), 400)),
    );
    const { code, results } = await runSqlapply(t, url, { text: T, options: '--if-exists skip' });
    t.is(code, error === 'permission denied' ? 77 : 1, error);
    t.deepEqual(results, ['rejected'], error);
  }
});

for (const [ifExists, type, code, results] of [
  ['compare', 'INT', 0, ['skipped', 'applied']],
  ['compare', 'LONG', 1, ['differs', 'not reached']],
  ['skip', 'INT', 0, ['skipped', 'applied']],
  ['skip', 'LONG', 0, ['skipped', 'applied']],
  ['fail', 'INT', 1, ['rejected', 'not reached']],
  ['fail', 'LONG', 1, ['rejected', 'not reached']],
] as const)
  test(`--if-exists ${ifExists}: the existing column is ${type}, the statement says INT`, async t => {
    const outcome = await replayOnto(t, type, `${T} ${VIEW}`, `--if-exists ${ifExists}`);
    t.is(outcome.code, code, outcome.stderr);
    t.deepEqual(outcome.results, [...results]);
    t.regex(String(outcome.definition), new RegExp(`x ${type}\n`), 'the existing table is unchanged');
    t.is(outcome.rejects, code === 0 ? '\0' : `${T}\n\0${VIEW}\n\0`);
  });
