/*!
 * sqlserve compared with recordings of real servers: every statement of the corpus, each in a fresh database. The
 * agreement is logged with examples of differences (all with DIFFERENCES=1) and has to reach the aims. If a case was
 * recorded on the later build too, of 9.4.4, the later recording counts.
 */
import { connect } from 'node:net';
import { startServer } from '@sqlpipe/server';
import { type Recorded, readCorpus } from '../support/corpus.js';
import { databases } from '../support/databases.js';
import { httpGet } from '../support/server.js';
import { startSqlserve } from '../support/sqlserve.js';
import { Tally } from '../support/tally.js';
import { fileScope, test, testRecorded } from '../support/test.js';

const scope = fileScope();
let url: string;
let urlWithoutExpressions: string;
test.before(async () => {
  const settings = { edition: 'oss', questdb: '9.4', allowHost: ['l', 'x'], requestLimit: 1_048_576 } as const;
  const here = await startServer({ ...settings, address: '127.0.0.1', port: 0 });
  scope.teardown(here.close);
  url = here.url;
  const args = ['--questdb', '9.4', '--request-limit', String(settings.requestLimit)];
  const env = { QDB_CAIRO_SQL_COLUMN_ALIAS_EXPRESSION_ENABLED: 'false' };
  urlWithoutExpressions = (await startSqlserve(scope, args, env)).url;
});

async function executeSql(
  url: string,
  sql: string,
): Promise<{ status: number; body: { error?: string; position?: number; dataset?: unknown[][] } }> {
  const { status, body } = await httpGet(`${url}/exec?${new URLSearchParams({ query: sql })}`);
  return { status, body: JSON.parse(body) };
}

/** Removes a START that the server chose, since it differs each time. */
const withoutChosenStart = (text: string, sql: string): string =>
  /\bstart\b/i.test(sql) ? text : text.replace(/ START '[^']*'/, '');

const objectNamed = /^CREATE (TABLE|VIEW|MATERIALIZED VIEW) '(.*?)' (?=\( |AS|WITH BASE)/s;

/** The base table of the views in the corpus file `names`. */
const base = 'create table b (ts timestamp, x int) timestamp(ts) partition by day wal';

async function compare(tally: Tally, item: Recorded): Promise<void> {
  const { id, sql, later, base_ddl = [], setup, server_config } = item;
  const wanted = later ?? item;
  if (wanted.status === null) return;
  const at = server_config?.includes('COLUMN_ALIAS_EXPRESSION') ? urlWithoutExpressions : url;
  await executeSql(at, 'drop all');
  for (const statement of [...base_ddl, ...(setup.length === 0 && id.startsWith('n') ? [base] : setup)])
    await executeSql(at, statement);
  const got = await executeSql(at, sql);
  const expected = typeof wanted.body === 'string' ? JSON.parse(wanted.body) : wanted.body;
  const difference = `${id} ${JSON.stringify(sql.slice(0, 200))}: ${JSON.stringify(expected?.error ?? 'OK')} at ${expected?.position}, here ${JSON.stringify(got.body.error ?? 'OK')} at ${got.body.position}`;
  tally.note('verdict', (got.status === 200) === (wanted.status === 200), difference);
  if (wanted.status !== 200) {
    tally.note(
      'message and position',
      got.body.error === expected.error && got.body.position === expected.position,
      difference,
    );
    return;
  }
  const shown = wanted.show_create ?? item.show_create;
  const [, kind, name] = objectNamed.exec(shown ?? '') ?? [];
  if (!shown || got.status !== 200) return;
  const text = String((await executeSql(at, `SHOW CREATE ${kind} '${name}'`)).body.dataset?.[0]?.[0]);
  // 9.3.4 kept the blanks around a view's body.
  const norm = (ddl: string) =>
    withoutChosenStart(later ? ddl : ddl.replace(/\(\s+/, '( ').replace(/\s+\)/g, ')'), sql);
  tally.note('text', norm(text) === norm(shown), `${id} ${JSON.stringify(shown)}, here ${JSON.stringify(text)}`);
}

/** The minimum shares of equal verdicts, texts, and messages with positions. */
const aims = {
  tables: { verdict: 0.99, text: 0.995, 'message and position': 0.95 },
  names: { verdict: 0.99, text: 1, 'message and position': 0.95 },
  views: { verdict: 0.99, text: 1, 'message and position': 0.95 },
};

for (const [name, aim] of Object.entries(aims))
  testRecorded(`${name}: accepted, shown and rejected as by real servers`, async t => {
    const tally = new Tally();
    for (const item of readCorpus(name)) await compare(tally, item);
    tally.log(t);
    for (const [what, share] of Object.entries(aim)) t.true(tally.share(what) >= share, `${what} agree too seldom`);
  });

for (const { name, creation, dump } of databases)
  test(`${name}: the dump equals the recorded one`, async t => {
    await executeSql(url, 'drop all');
    for (const statement of creation)
      t.deepEqual((await executeSql(url, statement)).body as object, { ddl: 'OK' }, statement);
    const rows = (await executeSql(url, 'SHOW CREATE DATABASE')).body.dataset?.flat().map(String) ?? [];
    const chosen = new Set(creation.filter(statement => !/\bstart\b/i.test(statement)));
    t.deepEqual(
      rows.map(row => withoutChosenStart(row, chosen.size > 0 ? '' : row)),
      dump.map(row => withoutChosenStart(row, '')),
    );
  });

testRecorded('SHOW CREATE DATABASE in every form is answered as recorded', async t => {
  await executeSql(url, 'drop all');
  for (const table of ['trades', 'meta', 'a', 'b', 'c'])
    await executeSql(
      url,
      `create table ${table} (timestamp timestamp, symbol symbol, price double) timestamp(timestamp) partition by day`,
    );
  for (const view of ['big', 'v2', 'v3', 'v4']) await executeSql(url, `create view ${view} as (select * from trades)`);
  for (const view of ['ohlc_1h', 'm2', 'm3'])
    await executeSql(
      url,
      `create materialized view ${view} as (select timestamp, max(price) as p from trades sample by 1h)`,
    );
  for (const { sql, status, body } of readCorpus('database')) {
    const { rows, ...expected } = body as { rows?: number };
    const got = await executeSql(url, sql);
    const { query, dataset, ...rest } = got.body as { query?: string; dataset?: unknown[][] };
    t.is(got.status, status ?? 0, sql);
    t.deepEqual('dataset' in expected ? { ...rest, dataset } : rest, expected, sql);
    if (rows !== undefined) t.is(dataset?.length, rows, sql);
  }
});

/** Sends raw bytes and returns the status and unchunked body of the reply; the status is null if there is no reply. */
function sendRaw(url: string, request: string): Promise<{ status: number | null; body: string }> {
  return new Promise(resolve => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname, () => socket.write(Buffer.from(request, 'latin1')));
    let received = '';
    const end = () => {
      socket.destroy();
      const status = /^HTTP\/1.1 (\d+)/.exec(received)?.[1];
      const body = /\r\n\r\n[0-9a-f]+\r\n([\s\S]*)\r\n00\r\n\r\n$/.exec(received)?.[1] ?? '';
      resolve({ status: status === undefined ? null : Number(status), body: Buffer.from(body, 'latin1').toString() });
    };
    socket.setEncoding('latin1').on('close', end).on('error', end);
    socket.on('data', bytes => {
      received += bytes;
      if (received.endsWith('\r\n00\r\n\r\n')) end();
    });
  });
}

/** Replies to queries, which sqlserve does not execute. */
const needsRows = /"dataset":|Invalid column|'%'|column expected/;

testRecorded('malformed requests are answered as recorded', async t => {
  for (const { id, label, request, status, body } of readCorpus('errors')) {
    if (request === undefined || needsRows.test(String(body))) continue;
    const got = await sendRaw(url, request);
    t.deepEqual(got, { status, body }, `${id} ${label}`);
  }
});
