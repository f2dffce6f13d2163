/*!
 * Generates streams of statements for a target that is empty, partly filled, or holds different definitions: statements of a random pair
 * of schemas, and changes of its objects. Half of the streams have a flaw: a statement that a server may reject. A seed always gives the
 * same stream.
 */
import { type Definition, printDefinition, type TableDefinition, tryParseDefinition } from '@sqlpipe/ddl';
import { changesOf } from './changes.js';
import { type Randomness, randomness, schemaPair } from './schema-pairs.js';

/** A stream, and the statements that make its target. */
export interface StatementStream {
  readonly seed: number;
  readonly target: readonly string[];
  readonly statements: readonly string[];
  /** The kind of error that the stream probably contains, or `none`. */
  readonly flaw: string;
}

const LATE = 'CREATE TABLE late (ts TIMESTAMP, qty LONG) TIMESTAMP(ts) PARTITION BY DAY WAL';
const DAILY = '(ts TIMESTAMP, a INT, s SYMBOL) TIMESTAMP(ts) PARTITION BY DAY';

/** `'t' X` for each X. */
const onEach = (object: string, ...rests: string[]): string[] => rests.map(rest => `${object} ${rest}`);

/**
 * What changes a schema. `$table`, `$view`, `$matview` and `$object` stand for a name, `$column` and `$symbol` for a column of the table,
 * `$type` for a type and `$n` for a number that is new. Each may be rejected, as for an object that something else has made invalid.
 */
const CHANGES: readonly string[] = [
  ...onEach(
    'ALTER TABLE $table',
    'ADD COLUMN new$n $type',
    'ADD COLUMN IF NOT EXISTS new$n $type',
    'DROP COLUMN $column',
    'DROP COLUMN $column',
    'RENAME COLUMN $column TO renamed$n',
    'RENAME COLUMN $column TO renamed$n',
    'ALTER COLUMN $column TYPE $type',
    'ALTER COLUMN $column TYPE $type',
    'ALTER COLUMN $symbol CACHE',
    'ALTER COLUMN $symbol NOCACHE',
    'ALTER COLUMN $symbol SYMBOL CAPACITY 2048',
    'ALTER COLUMN $symbol ADD INDEX',
    'ALTER COLUMN $symbol ADD INDEX CAPACITY 128',
    'ALTER COLUMN $symbol DROP INDEX',
    'SET TTL 1 WEEK',
    'SET TTL 0',
    'SET TTL 12 MONTHS',
    'DEDUP DISABLE',
    'DEDUP ENABLE UPSERT KEYS(ts)',
    'DEDUP ENABLE UPSERT KEYS(ts, $column)',
    'SET PARAM maxUncommittedRows = 10000',
    'SET PARAM o3MaxLag = 20s',
    'SET TYPE BYPASS WAL',
    'SET TYPE WAL',
    'SQUASH PARTITIONS',
    'RESUME WAL',
  ),
  ...onEach(
    'ALTER MATERIALIZED VIEW $matview',
    'SET TTL 3 WEEKS',
    'SET TTL 0',
    'SET REFRESH MANUAL',
    'SET REFRESH IMMEDIATE',
    'SET REFRESH LIMIT 7 DAYS',
    'RESUME WAL',
  ),
  'REFRESH MATERIALIZED VIEW $matview FULL',
  'REFRESH MATERIALIZED VIEW $matview INCREMENTAL',
  'DROP TABLE $table',
  'DROP VIEW $view',
  'DROP VIEW IF EXISTS $view',
  'DROP MATERIALIZED VIEW $matview',
  'DROP MATERIALIZED VIEW $matview; CREATE MATERIALIZED VIEW $matview AS (select ts, count() n from $table sample by 1d)',
  'RENAME TABLE $table TO renamed$n',
  'TRUNCATE TABLE $table',
  'CREATE OR REPLACE VIEW $view AS (select * from $object)',
  'ALTER VIEW $view AS (select ts, $column from $table)',
  'ALTER VIEW $view AS (with x as (select $column from $table) select * from x)',
  `CREATE TABLE IF NOT EXISTS $table ${DAILY}`,
  'CREATE VIEW IF NOT EXISTS $view AS (select $column from $table)',
  'CREATE MATERIALIZED VIEW IF NOT EXISTS $matview AS (select ts, count() n from $table sample by 1h)',
  'CREATE TABLE like$n (LIKE $table)',
  'CREATE TABLE new$n (a INT, "my col" DOUBLE, s SYMBOL CAPACITY 1024 NOCACHE INDEX CAPACITY 64)',
  `CREATE TABLE new$n ${DAILY} TTL 2 WEEKS BYPASS WAL`,
  `CREATE TABLE new$n ${DAILY.replace('DAY', 'MONTH')} TTL 12 MONTHS WAL DEDUP UPSERT KEYS(ts, a)`,
  'CREATE VIEW new$n AS (select x.ts, y.$column from $object x cross join $table y)',
  'CREATE VIEW new$n AS (select $column, count() n from $table where ts is not null)',
  "CREATE MATERIALIZED VIEW new$n REFRESH EVERY 1h START '2030-01-01T00:00:00.000000Z' AS (select ts, count() n from $table sample by 1d) PARTITION BY MONTH TTL 12 MONTHS",
  "INSERT INTO $table (ts) VALUES ('2024-01-01')",
  'SELECT count() >= 0 FROM $table',
  'CREATE TABLE copy$n AS (SELECT * FROM $table)',
];

/** Invalid names. */
const NAMES = ['a/b', 'a..b', '.a', 'a?', '', ' a', 'a*b', 'x'.repeat(300)];
const BAD_TYPES = ['INTEGERR', 'DECIMAL(99,2)', 'GEOHASH(99c)', 'DOUBLE[', 'SYMBOL(3)', 'INT NULL NULL'];

/** Statements that a server may reject, by the kind of error. */
const FLAWS: Readonly<Record<string, readonly string[]>> = {
  'a reference that is too early': [
    `CREATE VIEW early AS (select * from late); ${LATE}`,
    `CREATE MATERIALIZED VIEW early AS (select ts, count() n from late sample by 1h); ${LATE}`,
    `ALTER TABLE late ADD COLUMN x INT; ${LATE}`,
    `RENAME TABLE late TO other; ${LATE}`,
    `CREATE TABLE other (LIKE late); ${LATE}`,
    `DROP TABLE late; ${LATE}`,
    `${LATE}; CREATE VIEW early AS (select later from late); ALTER TABLE late ADD COLUMN later INT; CREATE VIEW then AS (select later from late)`,
  ],
  'a missing object': [
    'CREATE VIEW bad AS (select * from nowhere)',
    'CREATE OR REPLACE VIEW bad AS (select * from nowhere)',
    'CREATE MATERIALIZED VIEW bad AS (select ts, count() n from nowhere sample by 1h)',
    'CREATE MATERIALIZED VIEW bad WITH BASE nowhere AS (select ts, count() n from nowhere sample by 1h)',
    'ALTER TABLE nowhere ADD COLUMN x INT',
    'DROP TABLE nowhere',
    'DROP VIEW nowhere',
    'DROP MATERIALIZED VIEW nowhere',
    'RENAME TABLE nowhere TO somewhere',
    'REFRESH MATERIALIZED VIEW nowhere FULL',
    'ALTER VIEW nowhere AS (select 1)',
    'ALTER MATERIALIZED VIEW nowhere SET TTL 1 WEEK',
    'CREATE TABLE bad (LIKE nowhere)',
    'TRUNCATE TABLE nowhere',
  ],
  'a missing column': [
    'CREATE VIEW bad AS (select ts, nothing from $object)',
    'CREATE VIEW bad AS (select * from $object where nothing = 1)',
    'CREATE OR REPLACE VIEW bad AS (select x.nothing from $object x)',
    'CREATE MATERIALIZED VIEW bad AS (select ts, sum(nothing) n from $object sample by 1h)',
    ...onEach(
      'ALTER TABLE $table',
      'DROP COLUMN nothing',
      'RENAME COLUMN nothing TO something',
      'ALTER COLUMN nothing TYPE INT',
      'ALTER COLUMN nothing ADD INDEX',
      'ALTER COLUMN nothing NOCACHE',
      'ALTER COLUMN nothing SYMBOL CAPACITY 256',
      'DEDUP ENABLE UPSERT KEYS(ts, nothing)',
    ),
  ],
  'a duplicate': [
    'CREATE TABLE twice (a INT); CREATE TABLE twice (a INT, b INT)',
    'CREATE TABLE twice (a INT); CREATE TABLE TWICE (a INT)',
    'CREATE TABLE twice (a INT, A INT)',
    'CREATE TABLE twice (a INT); ALTER TABLE twice ADD COLUMN a LONG',
    'CREATE TABLE twice (a INT); CREATE VIEW bad AS (select a, a from twice)',
    'CREATE TABLE twice (a INT, b INT); ALTER TABLE twice RENAME COLUMN a TO b',
  ],
  'a wrong type': [
    ...BAD_TYPES.flatMap(type => [
      `CREATE TABLE bad (a ${type})`,
      `ALTER TABLE $table ADD COLUMN bad ${type}`,
      `ALTER TABLE $table ALTER COLUMN ts TYPE ${type}`,
      `CREATE VIEW bad AS (select ts::${type.split(' ')[0]} x from $table)`,
    ]),
    'CREATE TABLE bad (a INT) TIMESTAMP(a)',
    'CREATE TABLE bad (a INT INDEX)',
  ],
  'an invalid name': NAMES.flatMap(name => [
    `CREATE TABLE '${name}' (a INT)`,
    `CREATE VIEW '${name}' AS (select * from $table)`,
    `CREATE MATERIALIZED VIEW '${name}' AS (select ts, count() n from $table sample by 1h)`,
    `CREATE TABLE bad ("${name}" INT)`,
    `ALTER TABLE $table ADD COLUMN "${name}" INT`,
    `RENAME TABLE $table TO '${name}'`,
  ]),
  'an ALTER that the server rejects': [
    ...onEach(
      'ALTER TABLE $table',
      'DROP COLUMN ts',
      'RENAME COLUMN ts TO ts',
      'ALTER COLUMN ts TYPE INT',
      'ALTER COLUMN ts ADD INDEX',
      'ALTER COLUMN ts CACHE',
      'ADD COLUMN ts INT',
      'ADD COLUMN x INT, y INT',
      'ADD COLUMN',
      'SET TTL 5 HOURS',
      'SET TTL banana',
      'SET PARAM nothing = 3',
      'DEDUP ENABLE UPSERT KEYS()',
      'DROP PARTITION LIST',
      "DROP PARTITION LIST '2024-01-01'",
      'CHANGE',
    ),
    ...onEach(
      'ALTER MATERIALIZED VIEW $matview',
      'SET REFRESH EVERY 90s',
      'SET TTL 5 HOURS',
      'SET REFRESH LIMIT banana',
      'ADD COLUMN x INT',
      'AS (select 1)',
    ),
  ],
  'a name of another kind': [
    'DROP VIEW $table',
    'DROP MATERIALIZED VIEW $table',
    'ALTER VIEW $table AS (select 1)',
    'ALTER MATERIALIZED VIEW $table SET TTL 1 WEEK',
    'CREATE VIEW $table AS (select 1)',
    'CREATE OR REPLACE VIEW $table AS (select 1)',
    'CREATE VIEW IF NOT EXISTS $table AS (select 1)',
    'REFRESH MATERIALIZED VIEW $table FULL',
    'CREATE MATERIALIZED VIEW $table AS (select ts, count() n from $table sample by 1h)',
    ...['$view', '$matview'].flatMap(view => [
      `DROP TABLE ${view}`,
      `ALTER TABLE ${view} ADD COLUMN x INT`,
      `ALTER TABLE ${view} SET TTL 1 WEEK`,
      `CREATE TABLE ${view} (a INT)`,
      `CREATE TABLE IF NOT EXISTS ${view} (a INT)`,
      `RENAME TABLE ${view} TO somewhere`,
      `TRUNCATE TABLE ${view}`,
      `CREATE TABLE like1 (LIKE ${view})`,
    ]),
    'DROP MATERIALIZED VIEW $view',
    'REFRESH MATERIALIZED VIEW $view FULL',
    'DROP VIEW $matview',
    'CREATE VIEW $matview AS (select 1)',
    'CREATE TABLE',
  ],
};

const TYPES = 'INT LONG DOUBLE SHORT SYMBOL VARCHAR STRING BOOLEAN UUID DECIMAL(10,2)'.split(' ');

/** The statements of a template, about random objects of a schema. */
function fill(template: string, objects: readonly Definition[], random: Randomness): string[] {
  const table = random.pick(objects.filter((each): each is TableDefinition => each.kind === 'table'));
  const ofKind = (kind: Definition['kind']) => random.pick(objects.filter(each => each.kind === kind)) ?? table;
  const columns = table?.columns.filter(({ name }) => name !== 'ts') ?? [];
  const words: Record<string, string> = {
    table: `'${table?.name}'`,
    view: `'${ofKind('view')?.name}'`,
    matview: `'${ofKind('materialized view')?.name}'`,
    object: `'${random.pick(objects)?.name}'`,
    column: `"${random.pick(columns)?.name}"`,
    symbol: `"${random.pick(columns.filter(({ type }) => type === 'SYMBOL'))?.name}"`,
    type: random.pick(TYPES),
    n: String(random.below(1000)),
  };
  return template.replace(/\$(\w+)/g, (_, word: string) => words[word] ?? word).split('; ');
}

/** The same object with one other property, which is not its query: that of a pair is another one already. */
function changeDefinition(statement: string, random: Randomness): string {
  const definition = tryParseDefinition(statement);
  const changes = definition ? changesOf(definition).filter(({ property }) => !/^(?:name|query)$/.test(property)) : [];
  const change = random.pick(changes);
  return change ? printDefinition(change.changed, { quoted: true }) : statement;
}

const PLAIN = "CREATE TABLE 'a.b' (ts TIMESTAMP, a INT, s SYMBOL)";

/** The stream of a seed. */
export function statementStream(seed: number): StatementStream {
  const random = randomness(seed ^ 0xd47);
  const { before, after } = schemaPair(seed);
  const share = random.pick([0, 0.9, 1]);
  const target = [...before, PLAIN].filter(() => random.chance(share));
  const again = target.filter(() => random.chance(0.3));
  const statements = [
    ...again.map(statement => (random.chance(0.3) ? changeDefinition(statement, random) : statement)),
    ...[...after, PLAIN].filter(statement => !target.includes(statement) && random.chance(0.9)),
  ];
  const objects = [...target, ...statements].flatMap(statement => tryParseDefinition(statement) ?? []);
  const insert = (templates: readonly string[]): void => {
    const at = random.below(statements.length + 1);
    statements.splice(at, 0, ...fill(random.pick(templates), objects, random));
  };
  for (let count = random.below(8); count > 0; count--) insert(CHANGES);
  const flaw = random.chance(0.5) ? random.pick(Object.keys(FLAWS)) : 'none';
  if (flaw !== 'none') insert(FLAWS[flaw] ?? []);
  return { seed, target, statements: statements.map(statement => statement.replace(/;$/, '')), flaw };
}
