/*!
 * Random schemas whose rows can be told apart: each row of a table has an id that no other row of the server has, each value says
 * whose it is, and each row of a materialized view lists the ids that it was computed from. A seed always gives the same schema.
 */
import type { Randomness } from './schema-pairs.js';

/** What a column is for: the designated timestamp, the id of a row, a grouping key, a value, or the ids and counts of views. */
export type Role = 'ts' | 'id' | 'key' | 'value' | 'ids' | 'joined ids' | 'n';

/** A column of a table or a view. What reads it refers to its `uid`, so that a rename reaches the reader. */
export interface Column {
  readonly uid: number;
  name: string;
  role: Role;
  type: string;
  index?: boolean;
  nocache?: boolean;
  capacity?: number;
}

interface Named {
  readonly uid: number;
  name: string;
  columns: Column[];
}

/** A table. TTLs are clauses, such as `2 DAYS`; empty if there is none. */
export interface Table extends Named {
  readonly kind: 'table';
  partitionBy: 'HOUR' | 'DAY' | 'WEEK' | 'MONTH';
  ttl: string;
  keys: number[];
  wal: boolean;
}

/** A plain view. `source` has the column that each of its columns selects. */
export interface View extends Named {
  readonly kind: 'view';
  from: number;
  source: Map<number, number>;
  /** Leaves out each row whose id divided by this leaves nothing; 0 for none. Not over views. */
  without: number;
}

/** A materialized view over a table, a plain view of it, or another materialized view. */
export interface MaterializedView extends Named {
  readonly kind: 'materialized view';
  base: number;
  from: number;
  source: Map<number, number>;
  aggregates: Map<number, string>;
  joined: number | undefined;
  interval: string;
  refresh: string;
  ttl: string;
  without: number;
}

export type Relation = Table | View | MaterializedView;

export interface Schema {
  relations: Relation[];
}

export const KIND_WORDS = { table: 'TABLE', view: 'VIEW', 'materialized view': 'MATERIALIZED VIEW' } as const;

export const TYPES: readonly string[] =
  'LONG INT SHORT DOUBLE FLOAT VARCHAR STRING SYMBOL BOOLEAN UUID TIMESTAMP DATE IPv4 DECIMAL(10,2)'.split(' ');
export const NUMBERS = /^(LONG|INT|SHORT|DOUBLE|FLOAT|DECIMAL.*)$/;

const TABLE_NAMES = ['trades', 'my table', 'a-b', 'Quotes', 'über', 'b', 'ledger'];
const COLUMN_NAMES = ['qty', 'price', 'my col', 'select', 'Mixed', 'note', 'größe'];

/** Makes numbers and names that nothing else has. */
export class Names {
  #uid = 0;
  #serial = 0;
  next = (): number => ++this.#uid;
  fresh = (stem: string): string => `${stem.replace(/ \d+$/, '')} ${++this.#serial}`;
}

export const newColumn = (names: Names, name: string, role: Role, type: string): Column => ({
  uid: names.next(),
  name,
  role,
  type,
});

export function newTable(names: Names, name: string, random: Randomness): Table {
  const columns = [
    newColumn(names, 'ts', 'ts', random.chance(0.9) ? 'TIMESTAMP' : 'TIMESTAMP_NS'),
    newColumn(names, 'id', 'id', 'LONG'),
    newColumn(names, 'k', 'key', 'SYMBOL'),
  ];
  for (const each of COLUMN_NAMES)
    if (random.chance(0.35)) columns.push(newColumn(names, each, 'value', random.pick(TYPES)));
  for (const each of columns)
    if (each.type === 'SYMBOL') {
      if (random.chance(0.2)) each.index = true;
      if (random.chance(0.2)) each.nocache = true;
      if (random.chance(0.2)) each.capacity = 512;
    }
  const wal = random.chance(0.93);
  const keys = columns.filter(({ role }) => role === 'ts' || role === 'key').map(({ uid }) => uid);
  return {
    kind: 'table',
    uid: names.next(),
    name,
    columns,
    partitionBy: random.pick(['DAY', 'DAY', 'DAY', 'DAY', 'HOUR', 'MONTH', 'WEEK']),
    ttl: '',
    keys: wal && random.chance(0.25) ? random.pick([keys, keys.slice(0, 1)]) : [],
    wal,
  };
}

export const find = ({ relations }: Schema, uid: number): Relation | undefined =>
  relations.find(each => each.uid === uid);

const columnOf = (relation: Relation | undefined, uid: number | undefined): Column | undefined =>
  relation?.columns.find(each => each.uid === uid);

export function newView(names: Names, name: string, from: Relation, random: Randomness): View {
  const chosen = from.columns.filter(({ role }) => role !== 'value' || random.chance(0.6));
  const source = new Map<number, number>();
  const columns = chosen.map(each => {
    const column = newColumn(names, each.name, each.role, each.type);
    source.set(column.uid, each.uid);
    return column;
  });
  const without = from.kind === 'table' && random.chance(0.3) ? 3 : 0;
  return { kind: 'view', uid: names.next(), name, columns, from: from.uid, source, without };
}

/** The finer an interval, the earlier it stands here. */
export const INTERVALS = ['1h', '6h', '1d'];

/** A materialized view over a base, which it may read through a plain view, and which it may join with a table. */
export function newMaterializedView(
  names: Names,
  name: string,
  base: Table | MaterializedView,
  from: Relation,
  joined: Table | undefined,
  random: Randomness,
): MaterializedView {
  const source = new Map<number, number>();
  const aggregates = new Map<number, string>();
  const columns: Column[] = [];
  const add = (column: Column, read: Column, aggregate?: string): void => {
    columns.push(column);
    source.set(column.uid, read.uid);
    if (aggregate) aggregates.set(column.uid, aggregate);
  };
  for (const each of from.columns)
    if (each.role === 'ts') add(newColumn(names, 'ts', 'ts', each.type), each);
    else if (each.role === 'key' && random.chance(0.5)) add(newColumn(names, each.name, 'key', 'SYMBOL'), each);
    else if (each.role === 'id' || each.role === 'ids') add(newColumn(names, 'ids', 'ids', 'STRING'), each, 'ids');
    else if (each.role === 'joined ids') add(newColumn(names, 'joined ids', 'joined ids', 'STRING'), each, 'ids');
    else if (each.role === 'n') add(newColumn(names, 'n', 'n', 'LONG'), each, 'sum');
    else if (each.role === 'value' && NUMBERS.test(each.type) && random.chance(0.6))
      add(
        newColumn(names, each.name, 'value', 'DOUBLE'),
        each,
        random.pick(['sum', 'min', 'max', 'avg', 'first', 'last']),
      );
    else if (each.role === 'value' && random.chance(0.3))
      add(newColumn(names, each.name, 'value', each.type), each, random.pick(['first', 'last']));
  if (joined) {
    const id = joined.columns.find(({ role }) => role === 'id') as Column;
    add(newColumn(names, 'joined ids', 'joined ids', 'STRING'), id, 'ids');
    const value = random.pick(joined.columns.filter(({ role }) => role === 'value'));
    if (value && random.chance(0.5)) add(newColumn(names, `joined ${value.name}`, 'value', value.type), value, 'last');
  }
  return {
    kind: 'materialized view',
    uid: names.next(),
    name,
    columns,
    base: base.uid,
    from: from.uid,
    source,
    aggregates,
    joined: joined?.uid,
    interval: base.kind === 'table' ? random.pick(['1h', '6h']) : '1d',
    refresh: random.pick([
      ...Array.from({ length: 5 }, () => 'IMMEDIATE'),
      'MANUAL',
      'MANUAL',
      'EVERY 1h',
      'IMMEDIATE DEFERRED',
      'MANUAL DEFERRED',
      'MANUAL DEFERRED',
    ]),
    ttl: '',
    without: base.kind === 'table' && from.kind === 'table' && random.chance(0.15) ? 4 : 0,
  };
}

/** A random schema: tables, plain views, and materialized views: chains of them, which may join tables, unless `isFlat`. */
export function newSchema(names: Names, random: Randomness, isFlat = false): Schema {
  const schema: Schema = { relations: [] };
  const add = <T extends Relation>(relation: T): T => {
    schema.relations.push(relation);
    return relation;
  };
  const free = [...TABLE_NAMES];
  const takeName = (): string => free.splice(random.below(free.length), 1)[0] ?? names.fresh('t');
  const count = random.pick([1, 2, 2, 3]);
  const tables = Array.from({ length: count }, () => add(newTable(names, takeName(), random)));
  for (let i = 0; i < random.pick([0, 0, 1, 2]); i++)
    add(newView(names, `v${i + 1}`, random.pick(schema.relations), random));
  for (let chain = 0; chain < random.pick([0, 1, 1, 1, 2]); chain++) {
    const wal = tables.filter(each => each.wal);
    if (wal.length === 0) break;
    let base: Table | MaterializedView = random.pick(wal);
    for (let i = 0; i < (isFlat ? 1 : random.pick([1, 1, 2, 3])); i++) {
      const over = schema.relations.filter((each): each is View => each.kind === 'view' && each.from === base.uid);
      const from: Relation = over.length > 0 && random.chance(0.4) ? random.pick(over) : base;
      const others = tables.filter(each => each !== base);
      const joined: Table | undefined =
        !isFlat && base.kind === 'table' && others.length > 0 && random.chance(0.3) ? random.pick(others) : undefined;
      base = add(newMaterializedView(names, `m${chain}${i}`, base, from, joined, random));
    }
  }
  const tops = schema.relations.filter(({ kind }) => kind === 'materialized view');
  if (tops.length > 0 && random.chance(0.3)) add(newView(names, 'top', random.pick(tops), random));
  return schema;
}

export const quote = (name: string): string => `"${name}"`;

export interface Printing {
  /** A comment for the line of an object or a column, with its number. */
  readonly comment: (uid: number) => string;
}

const BARE: Printing = { comment: () => '' };

/** The statements that create a schema, each after what it reads. Throws nothing if something is missing: the name is then `missing`. */
export const printSchema = (schema: Schema, printing: Printing = BARE): string[] =>
  inOrder(schema).map(each => printRelation(schema, each, printing));

export function inOrder(schema: Schema): Relation[] {
  const ordered = new Set<Relation>();
  const visit = (relation: Relation | undefined): void => {
    if (!relation || ordered.has(relation)) return;
    for (const uid of readsOf(relation)) visit(find(schema, uid));
    ordered.add(relation);
  };
  for (const each of schema.relations) visit(each);
  return [...ordered];
}

export const readsOf = (relation: Relation): number[] => {
  if (relation.kind === 'table') return [];
  if (relation.kind === 'view') return [relation.from];
  return [relation.base, relation.from, ...(relation.joined === undefined ? [] : [relation.joined])];
};

export function printRelation(schema: Schema, relation: Relation, { comment }: Printing = BARE): string {
  const above = comment(relation.uid);
  const head = `${above}CREATE ${KIND_WORDS[relation.kind]} '${relation.name}'`;
  if (relation.kind === 'table') return `${head} ${printTable(relation, comment)};`;
  if (relation.kind === 'view') return `${head} AS (${queryOf(schema, relation)});`;
  const base = find(schema, relation.base)?.name ?? 'missing';
  const ttl = relation.ttl && ` TTL ${relation.ttl}`;
  return `${head} WITH BASE '${base}' REFRESH ${relation.refresh} AS (${queryOf(schema, relation)}) PARTITION BY DAY${ttl};`;
}

function printTable({ columns, partitionBy, ttl, keys, wal }: Table, comment: (uid: number) => string): string {
  const lines = columns.map(({ uid, name, type, capacity, nocache, index }, i) => {
    const symbol = `${capacity ? ` CAPACITY ${capacity}` : ''}${nocache ? ' NOCACHE' : ''}${index ? ' INDEX' : ''}`;
    const end = i < columns.length - 1 ? ',' : '';
    return `  ${quote(name)} ${type}${type === 'SYMBOL' ? symbol : ''}${end} ${comment(uid)}`.trimEnd();
  });
  const name = (uid: number): string => quote(columns.find(each => each.uid === uid)?.name ?? 'missing');
  const timestamp = columns.find(({ role }) => role === 'ts');
  const dedup = keys.length > 0 ? ` DEDUP UPSERT KEYS(${keys.map(name).join(', ')})` : '';
  return `(\n${lines.join('\n')}\n) TIMESTAMP(${quote(timestamp?.name ?? 'missing')}) PARTITION BY ${partitionBy}${ttl && ` TTL ${ttl}`}${wal ? ' WAL' : ' BYPASS WAL'}${dedup}`;
}

export function queryOf(schema: Schema, view: View | MaterializedView): string {
  const from = find(schema, view.from);
  const joined = view.kind === 'materialized view' && view.joined !== undefined ? find(schema, view.joined) : undefined;
  const read = (uid: number): string => {
    const source = view.source.get(uid);
    const own = columnOf(from, source);
    if (own) return `${quote(from?.name ?? 'missing')}.${quote(own.name)}`;
    const other = columnOf(joined, source);
    return other ? `${quote(joined?.name ?? 'missing')}.${quote(other.name)}` : quote('missing');
  };
  const list = view.columns.map(({ uid, name }) => {
    const aggregate = view.kind === 'materialized view' ? view.aggregates.get(uid) : undefined;
    const value =
      aggregate === 'ids'
        ? `string_agg(${read(uid)}::string, ',')`
        : aggregate
          ? `${aggregate}(${read(uid)})`
          : read(uid);
    return `${value} ${quote(name)}`;
  });
  const id = from?.columns.find(({ role }) => role === 'id');
  const where =
    view.without > 0 && id ? ` WHERE ${quote(from?.name ?? '')}.${quote(id.name)} % ${view.without} <> 0` : '';
  const join =
    view.kind === 'materialized view' && view.joined !== undefined
      ? ` ASOF JOIN ${quote(joined?.name ?? 'missing')}`
      : '';
  const sample = view.kind === 'materialized view' ? ` SAMPLE BY ${view.interval}` : '';
  return `SELECT ${list.join(', ')} FROM ${quote(from?.name ?? 'missing')}${join}${where}${sample}`;
}
