/*!
 * The statements of QuestDB 9.4 and 10: each is parsed, printed as a server prints it, and parsed again. The forms and the
 * messages are those of the server's documentation and of its own tests.
 */
import {
  applyAlteration,
  compareStatements,
  createFeatureCheck,
  expiresMoreRows,
  findMissingFeatures,
  parseDefinition,
  parseRights,
  printDefinition,
} from '@sqlpipe/ddl';
import { compareSchemas } from '@sqlpipe/schema';
import { test } from '../support/test.js';

const table = (column: string, rest = ' PARTITION BY DAY') =>
  `CREATE TABLE t (ts TIMESTAMP, ${column}, c DOUBLE) TIMESTAMP(ts)${rest}`;
const printed = (column: string, rest = ' PARTITION BY DAY') =>
  `CREATE TABLE 't' ( \n\tts TIMESTAMP,\n\t${column},\n\tc DOUBLE\n) timestamp(ts)${rest};`;
const QUERY = 'SELECT ts, sum(c) OVER (PARTITION BY s ORDER BY ts ROWS 3 PRECEDING) v FROM t';
const live = (clauses: string, query = `(${QUERY})`) => `CREATE LIVE VIEW l ${clauses} AS ${query}`;
const printedLive = (clauses: string, rest = '') => `CREATE LIVE VIEW 'l' ${clauses} AS (\n${QUERY}\n)${rest};`;

const EXPIRING = 'CREATE MATERIALIZED VIEW m AS (SELECT * FROM t) PARTITION BY DAY TTL 1 WEEK';

const FORMS: readonly [statement: string, printed: string][] = [
  [table('s SYMBOL INDEX TYPE POSTING'), printed('s SYMBOL INDEX TYPE POSTING')],
  [
    table('s SYMBOL INDEX TYPE POSTING DELTA INCLUDE (c)'),
    printed('s SYMBOL INDEX TYPE POSTING DELTA INCLUDE (c, ts)'),
  ],
  [
    `${table('s SYMBOL', '').replace(' TIMESTAMP(ts)', '')}, INDEX(s TYPE POSTING INCLUDE (c)) TIMESTAMP(ts) PARTITION BY DAY`,
    printed('s SYMBOL INDEX TYPE POSTING INCLUDE (c, ts)'),
  ],
  [table('s SYMBOL INDEX INCLUDE (c)'), printed('s SYMBOL INDEX TYPE POSTING INCLUDE (c, ts)')],
  [table('s SYMBOL INDEX TYPE BITMAP CAPACITY 100'), printed('s SYMBOL INDEX CAPACITY 128')],
  ...[
    ' PARTITION BY DAY FORMAT PARQUET WAL',
    ' PARTITION BY DAY WAL FORMAT PARQUET',
    ' PARTITION BY DAY FORMAT PARQUET',
  ].map((rest): [string, string] => [table('s INT', rest), printed('s INT', ' PARTITION BY DAY FORMAT PARQUET')]),
  [table('s INT NOT NULL'), printed('s INT')],
  [
    table('s VARCHAR PARQUET(default, zstd(3), BLOOM_FILTER) NOT NULL'),
    printed('s VARCHAR PARQUET(default, zstd(3), bloom_filter)'),
  ],
  [
    table('s INT', ' PARTITION BY DAY STORAGE POLICY(DROP LOCAL 1M, TO PARQUET 72 HOURS, TO REMOTE 2W)'),
    printed('s INT', ' PARTITION BY DAY\nSTORAGE POLICY(TO PARQUET 3 DAYS, TO REMOTE 2 WEEKS, DROP LOCAL 1 MONTH)'),
  ],
  [live('FLUSH EVERY 1_200ms START FROM NOW'), printedLive('FLUSH EVERY 1200ms IN MEMORY 1200ms START FROM NOW')],
  [
    live('FLUSH EVERY 5s START FROM beginning IN MEMORY 1h PARTITION BY hour').replace('VIEW', 'VIEW IF NOT EXISTS'),
    printedLive('FLUSH EVERY 5s IN MEMORY 1h PARTITION BY HOUR START FROM BEGINNING'),
  ],
  [
    live("FLUSH EVERY 5s START FROM '2026-04-01T00:00:00.000000001Z'", `${QUERY} OWNED BY "its me"`),
    printedLive("FLUSH EVERY 5s IN MEMORY 5s START FROM '2026-04-01T00:00:00.000000001Z'", "\nOWNED BY 'its me'"),
  ],
  [
    live('FLUSH EVERY 5s TTL 2 weeks START FROM NOW PARTITION BY WEEK'),
    printedLive('FLUSH EVERY 5s IN MEMORY 5s PARTITION BY WEEK TTL 2 WEEKS START FROM NOW'),
  ],
  ...[
    ['WHEN c in (1, 2) or (c < 0)', 'WHEN c in (1, 2) or (c < 0)'],
    ['when c < 0 cleanup every 1h', 'WHEN c < 0 CLEANUP EVERY 1h'],
    ['keep latest partition by s, c', 'KEEP LATEST PARTITION BY s, c'],
    ['KEEP LATEST ON ts PARTITION BY s', 'KEEP LATEST ON ts PARTITION BY s'],
    ['keep highest c', 'KEEP HIGHEST c'],
    ['keep latest on "my col" partition by "a b", "c"', 'KEEP LATEST ON "my col" PARTITION BY "a b", c'],
    ['keep highest "order"', 'KEEP HIGHEST "order"'],
    ['keep 2 lowest c partition by s cleanup every 30m', 'KEEP 2 LOWEST c PARTITION BY s CLEANUP EVERY 30m'],
  ].map(([rule = '', kept = '']): [string, string] => [
    `${EXPIRING} EXPIRE ROWS ${rule} OWNED BY u`,
    `CREATE MATERIALIZED VIEW 'm' REFRESH IMMEDIATE AS (\nSELECT * FROM t\n) PARTITION BY DAY TTL 1 WEEK EXPIRE ROWS ${kept}\nOWNED BY 'u';`,
  ]),
];

const known = (definition: object): unknown => JSON.parse(JSON.stringify(definition));

for (const [statement, expected] of FORMS)
  test(`parsed, printed and compared: ${statement}`, t => {
    const definition = parseDefinition(statement);
    t.is(printDefinition(definition), expected);
    t.deepEqual(known(parseDefinition(expected)), known(definition));
    t.deepEqual(compareStatements(statement, expected).differences, []);
  });

test('another rule for the expiry of rows is a difference', t => {
  const rules = [
    '',
    ' EXPIRE ROWS WHEN c < 0',
    ' EXPIRE ROWS KEEP HIGHEST c',
    ' EXPIRE ROWS KEEP HIGHEST c CLEANUP EVERY 1h',
  ];
  for (const [i, rule] of rules.entries())
    for (const other of rules.slice(i + 1)) {
      const { differences } = compareStatements(EXPIRING + rule, EXPIRING + other);
      const properties = differences.map(({ property }) => property);
      t.deepEqual(properties, ['expiry of rows']);
    }
});

test('the expiry of rows is the same with names in another case, a predicate by its tokens', t => {
  for (const [a, b, isSame] of [
    ['KEEP LATEST ON TS', 'KEEP LATEST ON ts', true],
    ['KEEP LATEST PARTITION BY "A"', 'KEEP LATEST PARTITION BY a', true],
    ['WHEN c<0 and "d"=1', 'WHEN c < 0 AND d = 1', true],
    ['WHEN c < 0', 'WHEN C < 0', false],
    ['KEEP HIGHEST c CLEANUP EVERY 1M', 'KEEP HIGHEST C CLEANUP EVERY 1m', false],
    ['WHEN c < 0 CLEANUP EVERY 1M', 'WHEN c < 0 CLEANUP EVERY 1m', false],
  ] as const) {
    const [one, other] = [a, b].map(rule => `${EXPIRING} EXPIRE ROWS ${rule}`) as [string, string];
    t.is(compareStatements(one, other).differences.length === 0, isSame, `${a}, ${b}`);
    const [former, now] = [one, other].map(statement => parseDefinition(statement));
    t.is(!expiresMoreRows(former, now), isSame, `${a}, ${b}`);
  }
});

test('a comment may be between IN and VOLUME after a predicate', t => {
  const definition = parseDefinition(`${EXPIRING} EXPIRE ROWS WHEN c IN (1) IN /* the cold one */ VOLUME 'v'`);
  t.like(definition, { expire: 'WHEN c IN (1)', volume: 'v' });
});

test('an index is the same in whichever order it names the columns that it covers', t => {
  const covering = (columns: string) => table(`s SYMBOL INDEX TYPE POSTING INCLUDE (${columns}), d INT`);
  t.deepEqual(compareStatements(covering('c, d'), covering('D, C')).differences, []);
  t.deepEqual(compareStatements(covering('c, d'), covering('c')).differences, [
    {
      property: "column 's' index",
      a: 'INDEX TYPE POSTING INCLUDE (c, d, ts)',
      b: 'INDEX TYPE POSTING INCLUDE (c, ts)',
    },
  ]);
});

test('an owner belongs to the query only if nothing follows it', t => {
  const definition = parseDefinition(live('FLUSH EVERY 5s START FROM NOW', 'SELECT ts, owned by, c FROM t'));
  t.like(definition, { body: 'SELECT ts, owned by, c FROM t', owner: undefined });
  const named = parseDefinition(live('FLUSH EVERY 5s START FROM NOW', 'SELECT ts FROM t -- x\n OWNED BY ann;'));
  t.like(named, { body: 'SELECT ts FROM t -- x', owner: 'ann' });
});

test('anchored windows and named windows are part of the query', t => {
  for (const anchor of ["DAILY '09:30' 'Europe/London'", "EXPRESSION timestamp_floor('1d', ts)"]) {
    const query = `SELECT ts, sum(c) OVER w v FROM t WINDOW w AS (PARTITION BY s ORDER BY ts ANCHOR ${anchor})`;
    t.like(parseDefinition(live('FLUSH EVERY 5s START FROM NOW', query)), { body: query });
  }
});

test('an index covers a column under its new name', t => {
  const definition = parseDefinition(table('s SYMBOL INDEX TYPE POSTING INCLUDE (d), d INT'));
  const [column, to] = ['D', 'e'];
  const renamed = definition && applyAlteration(definition, { action: 'rename column', column, to });
  t.is(renamed && printDefinition(renamed), printed('s SYMBOL INDEX TYPE POSTING INCLUDE (e, ts),\n\te INT'));
});

test('a SYMBOL with NULL or NOT NULL is rejected, as by 9.3.4', t => {
  for (const nullability of ['NULL', 'NOT NULL'])
    t.throws(() => parseDefinition(table(`s SYMBOL ${nullability}`)), { message: "'index' expected" });
});

test('the columns that a grant excludes are known where the table is', t => {
  const TABLE = table('s SYMBOL');
  const grant = 'GRANT SELECT, INSERT ON t(* EXCLUDE (C)) TO u;';
  t.is(parseRights(grant), undefined);
  const rights = parseRights(grant, name => (name === 't' ? ['ts', 's', 'c'] : undefined));
  const found = rights?.map(right => right.kind === 'grant' && `${right.permission} ${right.column}`);
  t.deepEqual(found, ['SELECT ts', 'INSERT ts', 'SELECT s', 'INSERT s']);
  const differences = (a: string, b: string) => compareSchemas([TABLE, a], [TABLE, b]).differences.length;
  t.is(differences('GRANT SELECT ON t(* EXCLUDE (c)) TO u;', 'GRANT SELECT ON t(s, ts) TO u;'), 0);
  t.is(differences('GRANT SELECT ON t(*) TO u;', 'GRANT SELECT ON t(s, ts, c) TO u;'), 0);
  t.is(differences('GRANT SELECT ON t(* EXCLUDE (c)) TO u;', 'GRANT SELECT ON t(s, c) TO u;'), 2);
  t.is(differences('GRANT SELECT ON x(* EXCLUDE (c)) TO u;', 'GRANT SELECT ON x(a) TO u;'), 2, 'an unknown table');
});

test('a permission whose name contains TO', t =>
  t.like(parseRights('GRANT CONVERT PARTITION TO PARQUET, SET TABLE FORMAT ON t TO u;'), [
    { permission: 'CONVERT PARTITION TO PARQUET', entity: 'u' },
    { permission: 'SET TABLE FORMAT', entity: 'u' },
  ]));

test('live views need a version after 9.4.4, for whoever asks', t => {
  const statement = live('FLUSH EVERY 5s START FROM NOW');
  for (const [version, isKnown] of Object.entries({ '9.3.4': false, '9.4.4': false, '9.4.5': true, '10.0.0': true })) {
    t.is(createFeatureCheck({ version })('live views'), isKnown, version);
    t.deepEqual(findMissingFeatures(statement, version), isKnown ? [] : ['live views'], version);
  }
  t.true(createFeatureCheck({ isEnterprise: true })('live views'));
});
