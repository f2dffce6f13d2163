/*! A plan that creates a view again keeps the properties that `--ignore` names as B has them. */
import { plan } from '@sqlpipe/api';
import { test } from '../support/test.js';

const u = (type: string) => `CREATE TABLE u (ts TIMESTAMP, k ${type}) TIMESTAMP(ts) PARTITION BY DAY;`;

/** Clauses of a materialized view over `u`. */
interface Clauses {
  readonly refresh?: string;
  readonly query?: string;
  readonly after?: string;
}

const x = ({ refresh = 'MANUAL', query = 'SELECT ts, max(k) mx FROM u SAMPLE BY 1d', after = '' }: Clauses) =>
  `CREATE MATERIALIZED VIEW x WITH BASE u REFRESH ${refresh} AS (${query}) ${after};`;

const MONTHS = 'PARTITION BY MONTH';

/** A property, how A has it, how B has it, and the text that a CREATE has only if it has that of B. */
const PROPERTIES: readonly (readonly [property: string, a: Clauses, b: Clauses, ofB: string])[] = [
  ['query', { query: 'SELECT ts, min(k) mx FROM u SAMPLE BY 1d' }, {}, 'max(k) mx'],
  ['partitioning', { after: 'PARTITION BY DAY' }, { after: MONTHS }, MONTHS],
  ['partitioning', {}, { after: MONTHS }, MONTHS],
  ['TTL', { after: `${MONTHS} TTL 9 MONTHS` }, { after: `${MONTHS} TTL 5 MONTHS` }, 'TTL 5 MONTHS'],
  ['TTL', { after: MONTHS }, { after: `${MONTHS} TTL 5 MONTHS` }, 'TTL 5 MONTHS'],
  ['expiry of rows', {}, { after: `${MONTHS} EXPIRE ROWS WHEN mx > 5` }, 'EXPIRE ROWS WHEN mx > 5'],
  ['refresh', { refresh: 'IMMEDIATE' }, { refresh: 'MANUAL DEFERRED' }, 'REFRESH MANUAL DEFERRED'],
  ['refresh start', { refresh: "EVERY 1h START '2027-01-01'" }, { refresh: "EVERY 1h START '2026-01-01'" }, '2026-01'],
  ['refresh period', { refresh: 'MANUAL PERIOD(LENGTH 2h)' }, { refresh: 'MANUAL PERIOD(LENGTH 3h)' }, 'LENGTH 3h'],
  ['owner', { after: "OWNED BY 'ann'" }, { after: "OWNED BY 'bob'" }, "OWNED BY 'bob'"],
];

for (const [property, a, b, ofB] of PROPERTIES)
  test(`a recreated view keeps what is ignored: ${property}: ${Object.values(a)}, ${Object.values(b)}`, async t => {
    const created = async (ignore: string[]) => {
      const { statements, omissions } = await plan([u('LONG'), x(a)], [u('INT'), x(b)], {
        ignore,
        allowLoss: ['history:x'],
      });
      t.deepEqual(omissions, []);
      return statements.filter(statement => /^CREATE MATERIALIZED/m.test(statement));
    };
    const [kept = '', ...others] = await created([`x: ${property}`]);
    t.true(kept.includes(ofB), kept);
    t.deepEqual(others, []);
  });

test('a view is not recreated for what is ignored', async t => {
  const [a, b] = [
    { query: 'SELECT ts, min(k) mx FROM u SAMPLE BY 1d', after: `${MONTHS} TTL 9 MONTHS` },
    { after: MONTHS },
  ];
  const options = { ignore: ['x: query'], allowLoss: ['ttl:x'] };
  const { statements, omissions } = await plan([u('INT'), x(a)], [u('INT'), x(b)], options);
  t.deepEqual(omissions, []);
  t.deepEqual(
    statements.filter(statement => !/^SELECT/m.test(statement)).map(statement => statement.split('\n').at(-1)),
    ["ALTER MATERIALIZED VIEW 'x' SET TTL 9 MONTHS;"],
  );
});

test('a plain view that gets another name keeps an ignored query', async t => {
  const [a, b] = [['CREATE VIEW w AS (SELECT k FROM u);'], ['CREATE VIEW v AS (SELECT ts FROM u);']];
  const { statements } = await plan([u('INT'), ...a], [u('INT'), ...b], { ignore: ['w: query'], renamed: ['v=w'] });
  t.regex(statements.at(-1) ?? '', /CREATE VIEW 'w' AS \(\s*SELECT ts FROM u\s*\);$/);
});

test('a recreated live view keeps what is ignored', async t => {
  const windowed = (rows: number) =>
    `SELECT ts, count(*) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN ${rows} PRECEDING AND CURRENT ROW) a FROM u`;
  const live = (flush: string, rest: string) => `CREATE LIVE VIEW l FLUSH EVERY ${flush} IN MEMORY 1m ${rest};`;
  const [a, b] = [
    live('5s', `PARTITION BY DAY START FROM NOW AS (${windowed(1)})`),
    live('9s', `PARTITION BY HOUR START FROM BEGINNING AS (${windowed(2)})`),
  ];
  const ignore = ['l: partitioning', 'live view: start', 'l: query'];
  const { statements, omissions } = await plan([u('INT'), a], [u('INT'), b], { ignore, allowLoss: ['drop:l'] });
  t.deepEqual(omissions, []);
  const kept = live('5s', `PARTITION BY HOUR START FROM BEGINNING AS (\n${windowed(2)}\n)`);
  t.is(statements.at(-1)?.replace(/^--.*\n/gm, ''), kept.replace(' l ', " 'l' "));
});

test('a plain view with an ignored query and another owner does not block its readers', async t => {
  const v = (column: string, owner: string) => `CREATE VIEW v AS (SELECT ts, ${column} FROM u) OWNED BY '${owner}';`;
  const a = [u('INT'), v('k + 1 k', 'ann'), 'CREATE VIEW w AS (SELECT k FROM v);'];
  const { statements, omissions } = await plan(a, [u('INT'), v('k', 'bob')], { ignore: ['v: query'] });
  t.deepEqual([statements.length, omissions.map(({ what }) => what)], [1, ['owner: bob to ann']]);
});

test('a rebuilt table keeps an ignored TTL, even if rows may expire', async t => {
  const table = (unit: string) => `CREATE TABLE u (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY ${unit} TTL 2 DAYS;`;
  const options = { ignore: ['u: TTL'], allowLoss: ['ttl:u'], rebuild: ['u'] };
  const { statements } = await plan([table('HOUR')], [table('DAY')], options);
  t.regex(statements.find(statement => /^CREATE TABLE/m.test(statement)) ?? '', /PARTITION BY HOUR TTL 2 DAYS/);
});
