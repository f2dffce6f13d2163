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
 * What no plan has. `$table`, `$view`, `$matview` and `$object` stand for a name, `$column` and `$symbol` for a column of it, `$type` for a
 * type and `$n` for a number that is new. Each may be rejected, as for an object that something else has made invalid.
 */
const OTHERS: readonly string[] = [
  'ALTER TABLE $table ADD COLUMN IF NOT EXISTS new$n $type',
  'ALTER TABLE $table ADD COLUMN ts INT',
  'ALTER TABLE $table ALTER COLUMN $column TYPE $type',
  'ALTER TABLE $table ALTER COLUMN $symbol ADD INDEX',
  'ALTER TABLE $table DROP COLUMN nothing',
  'ALTER TABLE $table DEDUP ENABLE UPSERT KEYS(ts, nothing)',
  'ALTER TABLE $table SET TYPE BYPASS WAL',
  'ALTER TABLE $table SQUASH PARTITIONS',
  'ALTER TABLE $table RESUME WAL',
  "ALTER TABLE $table DROP PARTITION LIST '2024-01-01'",
  'ALTER MATERIALIZED VIEW $matview SET REFRESH LIMIT 7 DAYS',
  'REFRESH MATERIALIZED VIEW $matview INCREMENTAL',
  'DROP VIEW IF EXISTS $view',
  'DROP VIEW $object',
  'TRUNCATE TABLE $object',
  'RENAME TABLE $object TO $table',
  'CREATE OR REPLACE VIEW $view AS (select * from $object)',
  'ALTER VIEW $view AS (with x as (select $column from $table) select * from x)',
  'CREATE VIEW IF NOT EXISTS $object AS (select $column from $table)',
  'CREATE TABLE IF NOT EXISTS $object (ts TIMESTAMP, a INT) TIMESTAMP(ts) PARTITION BY DAY',
  'CREATE TABLE like$n (LIKE $object)',
  'CREATE TABLE twice (a INT); CREATE TABLE TWICE (a INT)',
  'CREATE VIEW new$n AS (select x.ts, y.$column from $object x cross join $table y)',
  'CREATE MATERIALIZED VIEW bad AS (select ts, sum(nothing) n from $object sample by 1h)',
  "INSERT INTO $table (ts) VALUES ('2024-01-01')",
];

const TYPES = 'INT LONG DOUBLE SHORT SYMBOL VARCHAR STRING BOOLEAN UUID DECIMAL(10,2)'.split(' ');

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
  const target = [...pair.before, PLAIN].filter(() => random.chance(share));
  const again = target.filter(() => random.chance(0.3));
  const statements = [
    ...again.map(statement => (random.chance(0.3) ? changeDefinition(statement, random) : statement)),
    ...[...pair.after, PLAIN].filter(statement => !target.includes(statement) && random.chance(0.5)),
    ...(await planOf(pair)).filter(() => random.chance(0.8)),
  ];
  const objects = [...target, ...statements].flatMap(statement => tryParseDefinition(statement) ?? []);
  for (let count = random.below(8); count > 0; count--)
    statements.splice(random.below(statements.length + 1), 0, ...fill(random.pick(OTHERS), objects, random));
  return { seed, target, statements: statements.map(statement => statement.replace(/;$/, '')), source: 'generated' };
}
