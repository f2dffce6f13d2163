/*! Plans for what QuestDB 9.4 and 10 have: posting indexes, formats, storage policies, live views. */
import { planChanges } from '@sqlpipe/plan';
import { IgnoreRules } from '@sqlpipe/schema';
import { test } from '../support/test.js';

const sensors = (column: string, rest = '') =>
  `CREATE TABLE t (ts TIMESTAMP, s SYMBOL, ${column}, d INT) timestamp(ts) PARTITION BY DAY${rest};`;
const liveView = (clauses: string, column = 'c') =>
  `CREATE LIVE VIEW l FLUSH EVERY 5s ${clauses} AS (SELECT ts, ${column}, count(*) OVER (PARTITION BY s ORDER BY ts ROWS 3 PRECEDING) n FROM t);`;
const passed = (rest: string) => `CREATE MATERIALIZED VIEW m AS (SELECT * FROM t) PARTITION BY DAY${rest};`;

test('the forms of QuestDB 9.4 and 10 that an ALTER changes', async t => {
  const ignore = new IgnoreRules(['column order']);
  for (const [before, after, plan] of [
    [
      [sensors('c SYMBOL')],
      [sensors('c SYMBOL INDEX TYPE POSTING DELTA INCLUDE (d)')],
      ["ALTER TABLE 't' ALTER COLUMN c ADD INDEX TYPE POSTING DELTA INCLUDE (d, ts);"],
    ],
    [
      [sensors('c SYMBOL INDEX TYPE POSTING INCLUDE (d), e INT')],
      [sensors('c SYMBOL INDEX TYPE POSTING INCLUDE (d, e), e INT')],
      [
        "ALTER TABLE 't' ALTER COLUMN c DROP INDEX;",
        "ALTER TABLE 't' ALTER COLUMN c ADD INDEX TYPE POSTING INCLUDE (d, e, ts);",
      ],
    ],
    [
      [sensors('c SYMBOL INDEX')],
      [sensors('c SYMBOL INDEX TYPE POSTING EF')],
      ["ALTER TABLE 't' ALTER COLUMN c DROP INDEX;", "ALTER TABLE 't' ALTER COLUMN c ADD INDEX TYPE POSTING EF;"],
    ],
    [
      [sensors('b INT')],
      [sensors('b INT, c SYMBOL INDEX CAPACITY 64, e SYMBOL INDEX TYPE POSTING')],
      [
        "ALTER TABLE 't' ADD COLUMN c SYMBOL CACHE INDEX CAPACITY 64;",
        "ALTER TABLE 't' ADD COLUMN e SYMBOL CACHE;",
        "ALTER TABLE 't' ALTER COLUMN e ADD INDEX TYPE POSTING;",
      ],
    ],
    [[sensors('c INT')], [sensors('c INT', ' FORMAT PARQUET')], ["ALTER TABLE 't' SET FORMAT PARQUET;"]],
    [[sensors('c INT', ' FORMAT PARQUET')], [sensors('c INT')], ["ALTER TABLE 't' SET FORMAT NATIVE;"]],
    [
      [sensors('c INT', ' STORAGE POLICY(TO PARQUET 3d)')],
      [sensors('c INT', ' STORAGE POLICY(TO PARQUET 3d, TO REMOTE 1w)')],
      ["ALTER TABLE 't' SET STORAGE POLICY(TO PARQUET 3 DAYS, TO REMOTE 1 WEEK);"],
    ],
    [
      [sensors('c INT', ' STORAGE POLICY(TO PARQUET 3d)')],
      [sensors('c INT')],
      ["ALTER TABLE 't' DROP STORAGE POLICY;"],
    ],
    [
      [sensors('c DOUBLE')],
      [sensors('c DOUBLE PARQUET(default, zstd(3), BLOOM_FILTER)')],
      ["ALTER TABLE 't' ALTER COLUMN c SET PARQUET(default, zstd(3), bloom_filter);"],
    ],
    [[sensors('c INT')], [sensors('c INT NOT NULL')], []],
    [
      [sensors('c INT'), 'CREATE USER u;', 'GRANT SELECT ON t(ts, s) TO u;'],
      [sensors('c INT'), 'CREATE USER u;', 'GRANT SELECT ON t(* EXCLUDE (c)) TO u;'],
      ['GRANT SELECT ON t(d) TO u;'],
    ],
    [
      [sensors('c INT'), 'CREATE USER u;', 'GRANT SELECT ON t(ts, s, c, d) TO u;'],
      [sensors('c INT'), 'CREATE USER u;', 'GRANT SELECT ON t(*) TO u;'],
      [],
    ],
    [
      [sensors('c INT'), liveView('TTL 3 DAYS START FROM NOW')],
      [sensors('c INT'), liveView('TTL 4 DAYS START FROM NOW')],
      ["ALTER LIVE VIEW 'l' SET TTL 4 DAYS;"],
    ],
    [
      [sensors('c INT'), passed(' EXPIRE ROWS KEEP LATEST PARTITION BY s')],
      [sensors('c INT'), passed('')],
      ["ALTER MATERIALIZED VIEW 'm' DROP EXPIRE;"],
    ],
    [[sensors('c INT')], [sensors('c INT'), passed('')], [passed('')]],
    [[sensors('c INT'), liveView('START FROM NOW')], [sensors('c INT'), liveView('START FROM NOW IN MEMORY 5s')], []],
    [[sensors('c INT')], [sensors('c INT'), liveView('START FROM NOW')], [liveView('START FROM NOW')]],
  ] as const) {
    const { statements, omissions } = await planChanges([...after], [...before], { version: '10.0.0', ignore });
    const texts = statements.map(({ statement }) => statement);
    t.deepEqual(texts, [...plan]);
    t.deepEqual(omissions, []);
  }
});

test('a live view is not made invalid: what would do that is left out, and its loss has a name', async t => {
  const listed = async (after: string[], before: string[], allowLoss: string[] = []) => {
    const { statements, omissions } = await planChanges(after, before, { allowLoss, version: '10.0.0' });
    return [
      ...statements.map(({ statement, comments }) => `${statement.split(' AS ')[0]}: ${comments.join('; ')}`),
      ...omissions.map(
        ({ reasons, losses = [] }) => `- ${reasons.join('; ')} ${losses.map(each => each.object).join()}`,
      ),
    ];
  };
  const now = [sensors('c INT'), liveView('START FROM NOW')];
  t.deepEqual(await listed([sensors('c LONG'), liveView('START FROM NOW')], now), [
    "- invalidates live view 'l': change column type operation [column=c] ",
  ]);
  const other = [sensors('c INT'), liveView('START FROM BEGINNING')];
  t.deepEqual(await listed(other, now), ["- loses live view 'l' and its rows l"]);
  t.deepEqual(await listed(other, now, ['drop:l']), [
    "DROP LIVE VIEW 'l';: is replaced by live view 'l'; CREATE follows",
    'CREATE LIVE VIEW l FLUSH EVERY 5s START FROM BEGINNING: metadata only',
  ]);
  t.deepEqual(await listed([sensors('c INT')], now), ["- loses live view 'l' and its rows l"]);
  const withoutC = [sensors('c INT').replace(' c INT,', ''), liveView('START FROM NOW', 'd')];
  t.deepEqual(await listed(withoutC, now, ['drop:l', 'drop:t.c']), [
    "ALTER TABLE 't' DROP COLUMN c;: loses column 'c'; invalidates live view 'l': drop column operation [column=c]; CREATE follows",
    "DROP LIVE VIEW 'l';: is replaced by live view 'l'; CREATE follows",
    'CREATE LIVE VIEW l FLUSH EVERY 5s START FROM NOW: metadata only',
  ]);
});

test('live views are planned for a server that has them', async t => {
  const after = [sensors('c INT'), liveView('START FROM NOW')];
  for (const [version, count] of [
    ['9.4.4', 0],
    ['10.0.0', 1],
    [undefined, 1],
  ] as const)
    t.is((await planChanges(after, [sensors('c INT')], { version })).statements.length, count);
});

test('what lets more rows expire is left out, and its loss has a name', async t => {
  for (const [before, after, reason] of [
    [
      [sensors('c INT'), passed('')],
      [sensors('c INT'), passed(' EXPIRE ROWS WHEN c < 0')],
      "expires rows of materialized view 'm' by the rule WHEN c < 0",
    ],
    [
      [sensors('c INT'), passed(' EXPIRE ROWS KEEP 3 HIGHEST c')],
      [sensors('c INT'), passed(' EXPIRE ROWS KEEP 2 HIGHEST c')],
      "expires rows of materialized view 'm' by the rule KEEP 2 HIGHEST c",
    ],
    [
      [sensors('c INT'), liveView('START FROM NOW')],
      [sensors('c INT'), liveView('TTL 3 DAYS START FROM NOW')],
      "expires rows of live view 'l' that are older than 3 DAYS",
    ],
  ] as const) {
    const { statements, omissions } = await planChanges([...after], [...before]);
    t.deepEqual(statements, []);
    const found = omissions.map(omission => omission.reasons.join('; '));
    t.deepEqual(found, [reason]);
    const object = reason.includes("'m'") ? 'm' : 'l';
    const allowed = await planChanges([...after], [...before], { allowLoss: [`ttl:${object}`] });
    t.is(allowed.statements.length, 1);
    t.deepEqual(allowed.omissions, []);
  }
});

test('a recreated view keeps its retention until an ALTER sets a new one, which can be left out alone', async t => {
  const other = (rest: string) => passed(rest).replace('FROM t', 'FROM t WHERE c > 1');
  for (const [before, after, kept, set] of [
    ['', ' EXPIRE ROWS WHEN c < 9', '', 'EXPIRE ROWS WHEN c < 9'],
    [' EXPIRE ROWS WHEN c < 5', ' EXPIRE ROWS WHEN c < 9', ' EXPIRE ROWS WHEN c < 5', 'EXPIRE ROWS WHEN c < 9'],
    [' EXPIRE ROWS WHEN c < 5', ' TTL 2 DAYS', '', 'TTL 2 DAYS'],
    [' TTL 2 DAYS', ' TTL 3 DAYS EXPIRE ROWS WHEN c < 9', ' TTL 3 DAYS', 'EXPIRE ROWS WHEN c < 9'],
  ] as const)
    for (const allowLoss of [[], ['ttl:m']]) {
      const [a, b] = [sensors('c INT'), sensors('c INT')];
      const plan = await planChanges([a, other(after)], [b, passed(before)], { version: '10.0.0', allowLoss });
      const changes = plan.statements.map(({ statement }) => statement).filter(each => !each.startsWith('SELECT'));
      const alter = `ALTER MATERIALIZED VIEW 'm' SET ${set}`;
      t.is(changes[0], "DROP MATERIALIZED VIEW 'm';");
      t.true(changes[1]?.endsWith(`) PARTITION BY DAY${kept};`), changes[1]);
      t.deepEqual(changes.slice(2), allowLoss.length > 0 ? [`${alter};`] : []);
      const omitted = plan.omissions.map(({ what }) => what);
      t.deepEqual(omitted, allowLoss.length > 0 ? [] : [alter]);
    }
});

test('what has an unknown form is left as it is, and nothing else', async t => {
  const dimensions = (rest: string) => sensors('c INT', `, s${rest}`);
  const VIEW = 'CREATE VIEW v AS (SELECT ts FROM t);';
  const other = (column: string) => `CREATE TABLE o (a INT${column});`;
  const audited = (value: string) =>
    `CREATE VIEW a AS (DECLARE AUDITED @s := '${value}' SELECT ts FROM t WHERE s = @s);`;
  for (const [before, after, omitted] of [
    [[dimensions(''), VIEW], [dimensions(''), VIEW], []],
    [[dimensions(''), VIEW], [dimensions(' ORDER BY s LAYOUT PLAIN'), VIEW], ["table 't'"]],
    [[sensors('c INT'), VIEW], [dimensions(''), VIEW], ["table 't'"]],
    [[dimensions(''), VIEW], [sensors('c INT'), VIEW], ["table 't'"]],
    [[sensors('c INT'), audited('x')], [sensors('c INT'), audited('x')], []],
    [
      [sensors('c INT'), audited('x')],
      [sensors('c INT'), audited('y')],
      ["ALTER VIEW 'a' AS ( DECLARE AUDITED @s := 'y' SELECT ts FROM t WHERE s = @s )"],
    ],
  ] as const) {
    const { statements, omissions } = await planChanges([...after, other(', b INT')], [...before, other('')]);
    const seen = statements.map(({ statement }) => statement);
    t.deepEqual(seen, ["ALTER TABLE 'o' ADD COLUMN b INT;"]);
    const given = omissions.map(({ what }) => what);
    t.deepEqual(given, [...omitted]);
  }
});
