/*! A dry run names the rows that are lost with a table, unless its copy still has them. Each case is also executed on a real QuestDB. */
import { waitUntilApplied } from '../support/background.js';
import { inProcess } from '../support/in-process.js';
import { day, LONG_MONTH, namesOf, rowsOn } from '../support/kept-rows.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { execute } from '../support/server.js';

const server = sharedQuestDB();

const ALL_COPIED = `SELECT coalesce(sum(CASE WHEN sqlpipe_more > 0 THEN sqlpipe_more ELSE 0 END), 0) = 0 AS all_copied FROM (SELECT "ts", "x", sum(sqlpipe_side) sqlpipe_more FROM (SELECT 1 sqlpipe_side, "ts" "ts", "x" "x" FROM 't' UNION ALL SELECT -1, "ts", "x" FROM 'c') GROUP BY "ts", "x");`;
const COPY = ["INSERT INTO 'c' (ts, x) SELECT ts, x FROM 't';", ALL_COPIED];
const COPIED = ['CREATE TABLE c (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY WAL;', ...COPY];
const KEYED = [
  'CREATE TABLE c (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(ts);',
  ...COPY,
];
const ALL = ['drop:t'];

/** The statements before `DROP TABLE t`, and the losses that a dry run must name. */
const CASES: readonly [losses: readonly string[], ...statements: string[]][] = [
  [ALL, ...COPIED, 'TRUNCATE TABLE c;'],
  [ALL, ...COPIED, 'UPDATE c SET x = 0;'],
  [ALL, ...COPIED, `ALTER TABLE c DROP PARTITION LIST '${LONG_MONTH[0]}';`],
  [ALL, ...COPIED, `ALTER TABLE c DETACH PARTITION LIST '${LONG_MONTH[0]}';`],
  [ALL, ...COPIED, 'RENAME TABLE c TO d;', 'TRUNCATE TABLE d;'],
  [ALL, ...KEYED, `INSERT INTO c VALUES ('${LONG_MONTH[0]}T12:00', 1);`],
  [['ttl:c'], ...COPIED, 'ALTER TABLE c SET TTL 1 DAY;', `INSERT INTO c VALUES ('${LONG_MONTH[2]}T13:00', 1);`],
  [['ttl:c'], ...COPIED, 'ALTER TABLE c SET TTL 1 DAY;', 'ALTER TABLE c SET TTL 0 DAYS;'],
  [['values:t.x'], ...COPIED, 'ALTER TABLE c ALTER COLUMN x TYPE SHORT;'],
  [['values:t.x'], ...COPIED, 'ALTER TABLE c ALTER COLUMN x TYPE SHORT;', 'ALTER TABLE c ALTER COLUMN x TYPE INT;'],
  [['drop:t.x'], ...COPIED, 'ALTER TABLE c DROP COLUMN x;', 'ALTER TABLE c ADD COLUMN x INT;'],
  [['ttl:t'], 'ALTER TABLE t SET TTL 1 DAY;', 'ALTER TABLE t SET TTL 0 DAYS;', ...COPIED],
  [ALL, 'TRUNCATE TABLE t;', ...COPIED],
  [[], ...COPIED],
  [[], ...COPIED, 'RENAME TABLE c TO d;'],
  [[], ...COPIED, 'TRUNCATE TABLE t;'],
  [[], ...COPIED, `INSERT INTO c VALUES ('${LONG_MONTH[0]}T12:00', 1);`],
  [[], ...COPIED, 'ALTER TABLE c ADD COLUMN y INT;', 'ALTER TABLE c DROP COLUMN y;'],
  [[], ...COPIED, 'ALTER TABLE c ALTER COLUMN x TYPE LONG;'],
  [[], ...COPIED, 'ALTER TABLE c RENAME COLUMN x TO y;', 'ALTER TABLE c RENAME COLUMN y TO x;'],
  [[], ...COPIED, `ALTER TABLE c CONVERT PARTITION TO PARQUET LIST '${LONG_MONTH[0]}';`],
  [[], COPIED[0] as string, 'TRUNCATE TABLE c;', ...COPY],
];

testWithQuestDB('a dry run counts the rows of a table as lost if its copy has lost them', async t => {
  const run = await inProcess(t, { DB: server.url });
  for (const [losses, ...statements] of CASES) {
    const about = statements.join('\n');
    await server.dropAll();
    for (const statement of rowsOn(LONG_MONTH, day(''))) await execute(server, statement);
    await waitUntilApplied(server);
    const before = await execute(server, 'SELECT ts, x::LONG FROM t');
    const stream = [...statements, 'DROP TABLE t;'].join('\n');
    const dry = await run(`sqlsplit <<'END' | sqlapply --dry-run --allow all $DB\n${stream}\nEND`);
    t.deepEqual(
      [namesOf(dry.stdout), dry.code],
      [losses, losses.length > 0 ? 1 : 0],
      `${about}\n${dry.stdout}${dry.stderr}`,
    );
    await run.ok(`sqlsplit <<'END' | sqlapply -q --allow all $DB\n${stream}\nEND`);
    await waitUntilApplied(server);
    const copy = statements.some(each => each.includes('TO d;')) ? 'd' : 'c';
    const after = (await execute(server, `SELECT ts, x::LONG FROM ${copy}`)).map(row => JSON.stringify(row));
    const isKept = before.every(row => after.includes(JSON.stringify(row)));
    t.is(isKept, losses.length === 0, about);
  }
});

testWithQuestDB(
  'a dry run says what a copy loses of later rows if it gets the name of its table, which is kept',
  async t => {
    const run = await inProcess(t, { DB: server.url });
    const copies: readonly [losses: readonly string[], rest: string][] = [
      [[], 'WAL DEDUP UPSERT KEYS(ts)'],
      [['keys:t'], 'WAL'],
      [['ttl:t'], 'TTL 40 DAYS WAL DEDUP UPSERT KEYS(ts)'],
    ];
    for (const [losses, rest] of copies) {
      await server.dropAll();
      for (const statement of rowsOn(LONG_MONTH, day(''))) await execute(server, statement);
      await execute(server, 'ALTER TABLE t DEDUP ENABLE UPSERT KEYS(ts)');
      await waitUntilApplied(server);
      const create = `CREATE TABLE c (ts TIMESTAMP, x INT) TIMESTAMP(ts) PARTITION BY DAY ${rest};`;
      const stream = [create, ...COPY, 'RENAME TABLE t TO o;', 'RENAME TABLE c TO t;'].join('\n');
      const dry = await run(`sqlsplit <<'END' | sqlapply --dry-run --allow all $DB\n${stream}\nEND`);
      t.deepEqual([namesOf(dry.stdout), dry.code], [losses, losses.length > 0 ? 1 : 0], dry.stdout + dry.stderr);
      await run.ok(`sqlsplit <<'END' | sqlapply -q --allow all $DB\n${stream}\nEND`);
      await execute(server, `INSERT INTO t VALUES ('${LONG_MONTH[2]}T12:00', 1), ('2024-06-01T12:00', 2)`);
      await waitUntilApplied(server);
      const days = await execute(server, "SELECT timestamp_floor('d', ts)::STRING, count() FROM t ORDER BY 1");
      const isAsBefore = days.length === 4 && days.every(([, count]) => count === 1);
      t.is(isAsBefore, losses.length === 0, JSON.stringify(days));
    }
  },
);
