/*!
 * Generates streams of statements for a target that is empty, partly filled, or holds different definitions: statements of a random pair
 * of schemas, of a plan between them, and some that no plan has. A seed always gives the same stream.
 */
import { type Definition, printDefinition, type TableDefinition, tryParseDefinition } from '@sqlpipe/ddl';
import { planChanges, RejectedViewError } from '@sqlpipe/plan';
import { changesOf } from './changes.js';
import { lossesOf, changesOf as statementsOf } from './plans.js';
import { type Randomness, randomness, type SchemaPair, schemaPair } from './schema-pairs.js';

export interface StatementStream {
  readonly seed: number;
  readonly target: readonly string[];
  readonly statements: readonly string[];
  readonly source: string;
}

/**
 * What no plan has. `$table`, `$view`, `$matview` and `$object` stand for a name in some case, `$column` and `$symbol` for a column of it,
 * `$type` for a type and `$n` for a number that is new. Each may be rejected, as for an object that something else has made invalid.
 */
const OTHERS: readonly string[] = [
  ...[
    ...[
      'IF NOT EXISTS new$n $type',
      'new$n $type',
      'ts INT',
      '$column $type',
      'one$n INT, two$n SYMBOL NOCACHE INDEX',
    ].map(column => `ADD COLUMN ${column}`),
    ...['$column TYPE $type', '$symbol TYPE $type', '$symbol ADD INDEX', '$symbol ADD INDEX CAPACITY 100'].map(
      change => `ALTER COLUMN ${change}`,
    ),
    ...['DROP INDEX', 'CACHE', 'NOCACHE', 'SYMBOL CAPACITY 1000', 'SYMBOL CAPACITY 0'].flatMap(change => [
      `ALTER COLUMN $symbol ${change}`,
      `ALTER COLUMN $column ${change}`,
    ]),
    ...['nothing', '$column', '$column, ts'].map(columns => `DROP COLUMN ${columns}`),
    ...['$column TO $symbol', '$column TO ren$n', 'ts TO time$n', 'nothing TO $column'].map(
      names => `RENAME COLUMN ${names}`,
    ),
    ...['ts, nothing', 'ts', 'TS, $column', '$column'].map(keys => `DEDUP ENABLE UPSERT KEYS(${keys})`),
    ...['DEDUP DISABLE', 'SQUASH PARTITIONS', 'RESUME WAL', 'SET TTL 2 WEEKS', 'SET TTL 1h', 'SET TTL 0 DAYS'],
    ...['maxUncommittedRows = 100', 'o3MaxLag = 10s', 'nothing = 1'].map(parameter => `SET PARAM ${parameter}`),
    ...['SET TYPE BYPASS WAL', 'SET TYPE WAL'],
    ...["LIST '2024-01-01'", "LIST '2024-01'", "WHERE ts < '2024-01-02'"].map(which => `DROP PARTITION ${which}`),
    ...['DETACH', 'ATTACH', 'CONVERT'].map(
      verb => `${verb} PARTITION ${verb === 'CONVERT' ? 'TO PARQUET ' : ''}LIST '2024-01-02'`,
    ),
  ].map(change => `ALTER TABLE $table ${change}`),
  ...[
    ...[
      'LIMIT 7 DAYS',
      'MANUAL',
      'IMMEDIATE',
      'EVERY 1h',
      'MANUAL DEFERRED',
      "EVERY 1d START '2024-01-01' TIME ZONE 'UTC'",
    ],
    ...['IMMEDIATE PERIOD (LENGTH 1d)', 'MANUAL PERIOD (LENGTH 1d DELAY 2h)', 'IMMEDIATE PERIOD (SAMPLE BY INTERVAL)'],
  ].map(refresh => `ALTER MATERIALIZED VIEW $matview SET REFRESH ${refresh}`),
  ...['SET TTL 3 MONTHS', 'RESUME WAL', 'ALTER COLUMN $column ADD INDEX', 'ALTER COLUMN k SYMBOL CAPACITY 512'].map(
    change => `ALTER MATERIALIZED VIEW $matview ${change}`,
  ),
  ...['INCREMENTAL', 'FULL', "RANGE FROM '2024-01-01' TO '2024-01-02'"].map(
    range => `REFRESH MATERIALIZED VIEW $matview ${range}`,
  ),
  ...['TABLE', 'VIEW', 'MATERIALIZED VIEW'].flatMap(kind => [`DROP ${kind} $object`, `DROP ${kind} IF EXISTS $object`]),
  ...['$table', '$object', '$table, $object', 'IF EXISTS nothing'].map(names => `TRUNCATE TABLE ${names}`),
  'RENAME TABLE $object TO $table',
  'RENAME TABLE $object TO ren$n',
  'VACUUM TABLE $table',
  'COMPILE VIEW $view',
  'CREATE OR REPLACE VIEW $view AS (select * from $object)',
  'CREATE OR REPLACE VIEW $object AS (select ts, $column from $table)',
  'ALTER VIEW $view AS (with x as (select $column from $table) select * from x)',
  'ALTER VIEW $object AS (select ts from $object)',
  'CREATE VIEW IF NOT EXISTS $object AS (select $column from $table)',
  'CREATE TABLE IF NOT EXISTS $object (ts TIMESTAMP, a INT) TIMESTAMP(ts) PARTITION BY DAY',
  'CREATE TABLE like$n (LIKE $object)',
  'CREATE TABLE made$n AS (select * from $object)',
  'CREATE TABLE made$n AS (select ts, $column from $table) TIMESTAMP(ts) PARTITION BY MONTH TTL 1 YEAR',
  'CREATE TABLE twice (a INT); CREATE TABLE TWICE (a INT)',
  'CREATE VIEW new$n AS (select x.ts, y.$column from $object x cross join $table y)',
  'CREATE MATERIALIZED VIEW bad AS (select ts, sum(nothing) n from $object sample by 1h)',
  'CREATE MATERIALIZED VIEW hourly$n AS (select ts, count() n from $object sample by 1h)',
  'CREATE MATERIALIZED VIEW daily$n REFRESH EVERY 1h AS (select ts, last($column) l from $table sample by 1d) PARTITION BY YEAR',
  "INSERT INTO $table (ts) VALUES ('2024-01-01')",
  'INSERT INTO $table (ts) SELECT ts FROM $object',
  'INSERT INTO $table SELECT * FROM $object',
  'UPDATE $table SET $column = $symbol',
];

const TYPES = 'INT LONG DOUBLE SHORT SYMBOL VARCHAR STRING BOOLEAN UUID DECIMAL(10,2)'.split(' ');

function fill(template: string, objects: readonly Definition[], random: Randomness): string[] {
  const table = random.pick(objects.filter((each): each is TableDefinition => each.kind === 'table'));
  const ofKind = (kind: Definition['kind']) => random.pick(objects.filter(each => each.kind === kind)) ?? table;
  const columns = table?.columns.filter(({ name }) => name !== 'ts') ?? [];
  const inCase = (name = 'nothing') => random.pick([name, name, name.toUpperCase(), name.toLowerCase()]);
  const words: Record<string, string> = {
    table: `'${inCase(table?.name)}'`,
    view: `'${inCase(ofKind('view')?.name)}'`,
    matview: `'${inCase(ofKind('materialized view')?.name)}'`,
    object: `'${inCase(random.pick(objects)?.name)}'`,
    column: `"${inCase(random.pick(columns)?.name)}"`,
    symbol: `"${inCase(random.pick(columns.filter(({ type }) => type === 'SYMBOL'))?.name)}"`,
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

export async function planOf({ before, after, renamed }: SchemaPair): Promise<string[]> {
  try {
    const allowLoss = lossesOf(await planChanges(after, before, { renamed }));
    return statementsOf(await planChanges(after, before, { renamed, allowLoss }));
  } catch (error) {
    if (error instanceof RejectedViewError) return []; // a view of the second schema may be broken
    throw error;
  }
}

export async function statementStream(seed: number): Promise<StatementStream> {
  const random = randomness(seed ^ 0xd47);
  const pair = schemaPair(seed);
  const share = random.pick([0, 0.9, 1]);
  const existing = [...pair.before, PLAIN].filter(() => random.chance(share));
  const filled = existing.flatMap(statement => tryParseDefinition(statement) ?? []).filter(() => random.chance(0.3));
  const target = [
    ...existing,
    ...filled.map(({ name }) => `INSERT INTO '${name}' (ts) VALUES ('2024-01-01'), ('2024-01-02')`),
  ];
  const again = existing.filter(() => random.chance(0.3));
  const statements = [
    ...again.map(statement => (random.chance(0.3) ? changeDefinition(statement, random) : statement)),
    ...[...pair.after, PLAIN].filter(statement => !existing.includes(statement) && random.chance(0.5)),
    ...(await planOf(pair)).filter(() => random.chance(0.8)),
  ];
  const objects = [...existing, ...statements].flatMap(statement => tryParseDefinition(statement) ?? []);
  for (let count = random.below(10); count > 0; count--)
    statements.splice(random.below(statements.length + 1), 0, ...fill(random.pick(OTHERS), objects, random));
  return { seed, target, statements: statements.map(statement => statement.replace(/;$/, '')), source: 'generated' };
}
