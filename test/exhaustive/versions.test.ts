/*! Servers of other versions: a sample of `make versions`, and simulated replies of old servers. */
import { readFileSync } from 'node:fs';
import {
  compareStatements,
  findMissingFeatures,
  isCleanTable,
  printDefinition,
  tryParseDefinition,
} from '@sqlpipe/ddl';
import { connect, fetchStatements, resolveInstance } from '@sqlpipe/instance';
import type { ExecutionContext } from 'ava';
import { check } from '../../scripts/versions/check.js';
import { reply, rowsBody, startFaultyServer } from '../faults/faulty-server.js';
import { inProcess } from '../support/in-process.js';
import { borrowQuestDB, startQuestDB, testWithVersion } from '../support/questdb.js';
import { runSqlapply } from '../support/replay.js';
import type { Server } from '../support/server.js';
import { fileScope, test } from '../support/test.js';

const file = fileScope();
let newest: Promise<Server> | undefined;

function readDocumented(): Map<string, Map<string, string>> {
  const [, table = ''] = readFileSync('docs/COMPATIBILITY.md', 'utf8').split(/<!-- \/?versions -->\n/);
  const [[, ...versions] = [], , ...rows] = table
    .split('\n')
    .filter(line => line.startsWith('| '))
    .map(line => line.slice(2, -2).split(' | '));
  return new Map(
    versions.map((version, i) => [version, new Map(rows.map(([name = '', ...cells]) => [name, cells[i] ?? '']))]),
  );
}

for (const version of ['8.1.4', '9.0.3', '9.2.3', '9.3.0'])
  testWithVersion(version)(`QuestDB ${version} works as docs/COMPATIBILITY.md says`, async t => {
    newest ??= borrowQuestDB(file);
    const [old, latest] = await Promise.all([startQuestDB(t, { QUESTDB_VERSION: version }), newest]);
    const run = await inProcess(t, { OLD: old.url, NEW: latest.url });
    const cells = await check(version, old, latest, run);
    t.deepEqual([...cells].sort(), [...(readDocumented().get(version) ?? [])].sort());
  });

/** Simulates a server of version 9.0 with one table; `requests` are the requests that it got. */
const startOld = (t: ExecutionContext) =>
  startFaultyServer(t, (socket, { statement }) => {
    const [, answer] = OLD.find(([pattern]) => pattern.test(statement)) ?? [];
    socket.write(answer ?? reply('{"error":"unknown function name: x()","position":0}', 400));
  });

const rejectWith = (error: string) => reply(JSON.stringify({ error, position: 0 }), 400);
const T = `CREATE TABLE 't' ( \n\tmy col INT,\n\ts SYMBOL CAPACITY 128 CACHE\n)\nWITH maxUncommittedRows=5, o3MaxLag=6us;`;
const OLD: [RegExp, Buffer][] = [
  [/^SHOW CREATE DATABASE/, rejectWith("expected 'TABLE' or 'MATERIALIZED VIEW'")],
  [/table_type/, rejectWith('Invalid column: table_type')],
  [/matView, id FROM/, reply('{"dataset":[["t",false]],"count":1}')],
  [/^SHOW CREATE TABLE/, reply(rowsBody(T))],
];

test('a server whose tables() lacks a column is asked for the older one', async t => {
  const { url, requests } = await startOld(t);
  const run = await inProcess(t, { URL: url });
  const stdout = await run.silent('sqldump $URL');
  t.is(stdout, `${T.replace('my col', '"my col"')}\n\0`);
  const asked = (column: string) => requests.filter(({ statement }) => statement.includes(column)).length;
  const lists = 3; // the list is fetched twice, and once to compare with
  t.deepEqual([asked('table_type'), asked('matView')], [lists, lists]);
  const verbose = (await run('sqldump -v $URL > x')).stderr;
  t.true(verbose.includes(`: table 't': added quotes to names that need them: "my col"\n`), verbose);
});

test('a materialized view that an old server shows as a table is not a table', async t => {
  const { url } = await startFaultyServer(t, (socket, { statement }) => {
    if (/table_type/.test(statement)) return socket.write(rejectWith('Invalid column: table_type'));
    const isList = /matView, id FROM tables\(\) WHERE lower\(table_name\) IN \('m', 't'\)$/.test(statement);
    const list = '{"dataset":[["m",true,1],["t",false,2]],"count":2}';
    return socket.write(reply(isList ? list : rowsBody(T.replace("'t'", "'m'"), T)));
  });
  const db = connect(await resolveInstance(url, { program: 'sqldump', env: {}, warn() {} }));
  t.teardown(() => db.close());
  const asTables = (['m', 't'] as const).map(name => ({ kind: 'table' as const, name }));
  t.deepEqual(await fetchStatements(db, asTables), [undefined, T]);
});

const VIEWS = "CREATE TABLE 'a' (x INT);\nCREATE VIEW 'v' AS (a);\nCREATE VIEW 'w' AS (v);";

async function replayViews(t: ExecutionContext, build: Buffer, options = '') {
  const { url, requests } = await startFaultyServer(t, (socket, { statement }) =>
    socket.write(statement === 'SELECT build()' ? build : reply('{"ddl":"OK"}')),
  );
  const outcome = await runSqlapply(t, url, { text: VIEWS, options: `--no-verify ${options}` });
  return { ...outcome, sent: requests.filter(({ statement }) => statement.startsWith('CREATE')).length };
}

const BUILD_9_2 = reply(rowsBody('Build Information: QuestDB 9.2.3, JDK 17.0.9, Commit Hash d655b'));
const NO_VIEWS = 'the target is QuestDB 9.2.3, which does not support views';

test('statements that the target does not support are listed before anything is sent', async t => {
  const { code, stderr, sent } = await replayViews(t, BUILD_9_2);
  t.deepEqual({ code, sent }, { code: 1, sent: 0 });
  t.is(
    stderr,
    `sqlapply: 2 statements are rejected; nothing was sent\n  statement 2 (view 'v'): ${NO_VIEWS}\n  statement 3 (view 'w'): ${NO_VIEWS}\n`,
  );
});

test('with --keep-going the supported statements are applied', async t => {
  const { code, results, sent } = await replayViews(t, BUILD_9_2, '--keep-going');
  t.deepEqual({ code, results, sent }, { code: 1, results: ['applied', 'rejected', 'rejected'], sent: 1 });
});

for (const [name, build] of [
  ['is not readable', reply('{"error":"Access denied","position":0}', 403)],
  ['is of the enterprise edition', reply(rowsBody('Build Information: QuestDB Enterprise 3.1.0, JDK 17'))],
] as const)
  test(`if the version ${name}, all statements are sent`, async t => {
    const { code, sent } = await replayViews(t, build);
    t.deepEqual({ code, sent }, { code: 0, sent: 3 });
  });

for (const options of ['', '--keep-going'])
  test(`a target that denies the query for kinds causes one message ${options}`, async t => {
    const denied = reply('{"error":"Access denied for bob [tables()]","position":0}', 403);
    const tables = ['a', 'b', 'c'].map(name => `CREATE TABLE '${name}' ( \n\tx INT\n);`);
    const { url } = await startFaultyServer(t, (socket, { statement }) => {
      if (statement.startsWith('CREATE')) return socket.write(reply('{"ddl":"OK"}'));
      return socket.write(statement.startsWith('SHOW') ? reply(rowsBody(...tables)) : denied);
    });
    const { code, stderr } = await runSqlapply(t, url, { text: tables.join('\n'), options });
    t.is(code, 77);
    t.is(stderr.split('Access denied').length - 1, 1, stderr);
  });

for (const [statement, features] of Object.entries({
  "CREATE VIEW 'v' AS (SELECT 1 x)": { '9.2.3': ['views'], '9.3.0': [], '10.0.1': [] },
  'CREATE TABLE t (ts TIMESTAMP_NS, d DECIMAL(5,2), a DOUBLE[])': {
    '8.1.4': ['DECIMAL', 'TIMESTAMP_NS', 'arrays'],
    '9.0.3': ['DECIMAL', 'TIMESTAMP_NS'],
    '9.1': ['DECIMAL'],
    '9.2.0': [],
  },
  'CREATE TABLE t (s SYMBOL INDEX INCLUDE (x), x INT)': { '9.3.4': ['INDEX TYPE'], '10.0.1': [] },
  'CREATE TABLE t (view INT, decimal INT, ttl INT)': { '8.1.4': [] },
  'DROP VIEW v': { '8.1.4': [] },
}))
  test(`features that versions lack: ${statement}`, t => {
    for (const [version, missing] of Object.entries(features))
      t.deepEqual(findMissingFeatures(statement, version), missing, version);
  });

for (const row of [
  "CREATE TABLE 't' ( \n\tts TIMESTAMP,\n\ts SYMBOL CAPACITY 128 NOCACHE INDEX CAPACITY 256\n) timestamp(ts) PARTITION BY DAY TTL 2 DAYS WAL\nWITH maxUncommittedRows=500000, o3MaxLag=600000000us\nDEDUP UPSERT KEYS(ts,s);",
  "CREATE TABLE 't' ( \n\tx INT\n)\nWITH maxUncommittedRows=500000, o3MaxLag=600000000us;",
])
  test(`a statement as QuestDB 9.0 prints it is parsed and printed unchanged: ${row}`, t => {
    t.true(isCleanTable(row));
    const definition = tryParseDefinition(row);
    t.is(definition && printDefinition(definition, { form: '9.0' }), row);
  });

test('properties that 9.3 does not print are listed as not comparable', t => {
  const old = "CREATE TABLE 't' ( \n\ts SYMBOL CAPACITY 128 CACHE\n)\nWITH maxUncommittedRows=5, o3MaxLag=6us;";
  t.deepEqual(compareStatements(old, "CREATE TABLE 't' ( \n\ts SYMBOL\n);"), {
    differences: [],
    notComparable: ["column 's' capacity", 'maxUncommittedRows', 'o3MaxLag'],
    isTokenComparison: false,
  });
});
