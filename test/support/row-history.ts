/*! The rows of random schemas, and how their tables lose some of them while views still hold what was computed from them. */
import { inOrder, KIND_WORDS, printRelation, quote, type Schema, type Table } from './row-schemas.js';
import type { Randomness } from './schema-pairs.js';

/** The days that have rows: the first ones of 2024. */
export const DAYS = 5;
const ROWS_PER_DAY = 4;

/** Types of values, each with an expression that gives the value of the row with id `id` in a column with the number `n`. */
const VALUES: Readonly<Record<string, (id: string, n: number) => string>> = {
  LONG: (id, n) => `${id} * 100 + ${n}`,
  INT: (id, n) => `(${id} * 100 + ${n})::int`,
  SHORT: (id, n) => `(${id} * 100 + ${n})::short`,
  DOUBLE: (id, n) => `${id} * 100 + ${n} + 0.25`,
  FLOAT: (id, n) => `(${id} * 100 + ${n} + 0.5)::float`,
  VARCHAR: (id, n) => `concat('v', ${id} * 100 + ${n})::varchar`,
  STRING: (id, n) => `(${id} * 100 + ${n})::string`,
  SYMBOL: (id, n) => `concat('s', ${id} * 100 + ${n})::symbol`,
  BOOLEAN: id => `${id} % 2 = 0`,
  UUID: (id, n) => `concat('00000000-0000-0000-0000-', lpad((${id} * 100 + ${n})::string, 12, '0'))::uuid`,
  TIMESTAMP: (id, n) => `(1700000000000000 + ${id} * 100 + ${n})::timestamp`,
  DATE: (id, n) => `(1700000000000 + ${id} * 100 + ${n})::date`,
  IPv4: (id, n) => `concat('10.0.', ${id} % 250, '.', ${n})::ipv4`,
  'DECIMAL(10,2)': (id, n) => `cast(${id} * 100 + ${n} as decimal(10,2))`,
};

/** Inserts rows with the ids from `first` on, one every few hours, from a moment on. Every fourth value is NULL. */
export function insertRows(table: Table, first: number, count: number, start: string, hours: number): string {
  const filled = table.columns.map(({ uid, role, type }) => {
    if (role === 'ts') return `timestamp_sequence('${start}', ${hours * 3_600_000_000}L)`;
    const id = `(${first - 1} + x)`;
    if (role === 'id') return type === 'LONG' ? id : `${id}::${type}`;
    if (role === 'key') return "(case when x % 2 = 0 then 'p' else 'q' end)::symbol";
    const value = VALUES[type]?.(id, uid % 100) ?? 'null';
    return type === 'BOOLEAN' || type === 'SHORT' || uid % 2 === 0
      ? value
      : `case when x % 4 = 1 then null else ${value} end`;
  });
  return `INSERT INTO '${table.name}' (${table.columns.map(({ name }) => quote(name)).join(', ')}) SELECT ${filled.join(', ')} FROM long_sequence(${count})`;
}

export const dayOf = (n: number): string => `2024-01-0${n}`;

/** Converts the partition of a day, if there is one: a partition that is named and missing suspends the table. */
export const convertToParquet = ({ name, columns }: Table, day: string): string =>
  `ALTER TABLE '${name}' CONVERT PARTITION TO PARQUET WHERE ${quote(columns.find(({ role }) => role === 'ts')?.name ?? '')} IN '${day}'`;

/** What fills the tables of a schema, and takes rows from them that views hold: statements, in order. */
export function historyOf(schema: Schema, random: Randomness, firstId = 1): { statements: string[]; nextId: number } {
  let id = firstId;
  const statements: string[] = [];
  const empty = new Set<Table>();
  for (const each of inOrder(schema)) {
    statements.push(printRelation(schema, each));
    if (each.kind === 'table') {
      if (random.chance(0.12)) {
        empty.add(each);
        continue;
      }
      const count = DAYS * ROWS_PER_DAY;
      statements.push(insertRows(each, id, count, dayOf(1), 24 / ROWS_PER_DAY));
      id += count;
    } else if (each.kind === 'materialized view' && each.refresh !== 'IMMEDIATE') {
      if (each.refresh.includes('DEFERRED') && random.chance(0.3)) continue;
      const range = random.chance(0.4) ? `RANGE FROM '${dayOf(1)}' TO '${dayOf(random.pick([3, 6]))}'` : 'INCREMENTAL';
      statements.push(`REFRESH MATERIALIZED VIEW '${each.name}' ${range}`);
    }
  }
  for (let i = random.pick([0, 1, 1, 2, 3]); i > 0; i--) statements.push(...erode(schema, random));
  for (const each of schema.relations) {
    if (each.kind !== 'table' || empty.has(each)) continue;
    // A partition into which a TTL does not reach.
    if (random.chance(0.2) && each.partitionBy === 'DAY')
      statements.push(convertToParquet(each, dayOf(random.pick([3, 4]))));
    if (random.chance(0.06) && each.wal) {
      // At times of no other row, which a key would replace as soon as the table is resumed.
      statements.push(`ALTER TABLE '${each.name}' SUSPEND WAL`, insertRows(each, id, 2, `${dayOf(5)}T00:30`, 1));
      id += 2;
    }
  }
  return { statements, nextId: id };
}

function erode(schema: Schema, random: Randomness): string[] {
  const target = random.pick(schema.relations.filter(({ kind }) => kind !== 'view'));
  if (!target || target.kind === 'view') return [];
  const isByDay = target.kind === 'materialized view' || target.partitionBy === 'DAY' || target.partitionBy === 'HOUR';
  if (isByDay && target.ttl === '' && random.chance(0.6)) {
    target.ttl = random.pick(['1 DAY', '2 DAYS', '3 DAYS']);
    return [`ALTER ${KIND_WORDS[target.kind]} '${target.name}' SET TTL ${target.ttl}`];
  }
  if (target.kind === 'table' && target.partitionBy === 'DAY')
    return random.chance(0.15)
      ? [`TRUNCATE TABLE '${target.name}'`]
      : [`ALTER TABLE '${target.name}' DROP PARTITION LIST '${dayOf(random.pick([1, 2, 3, 4]))}'`];
  return [];
}
