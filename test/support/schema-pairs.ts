/*!
 * Generates random pairs of schemas: a schema, and the same schema after some changes. A seed always gives the same
 * pair.
 */
import { type Column, printDefinition, type TableDefinition } from '@sqlpipe/ddl';

/** A schema before and after some changes. */
export interface SchemaPair {
  /** The statements of the existing schema, in an order in which they can be created. */
  readonly before: string[];
  /** The statements of the wanted schema. */
  readonly after: string[];
  /** Values of --renamed: OLD=NEW. */
  readonly renamed: string[];
  /** Descriptions of the changes, for messages. */
  readonly changes: string[];
  /** The tables of `before`, into which rows can be inserted. */
  readonly tables: TableDefinition[];
  /** Maps names of tables and columns in `before` to their names in `after`. */
  readonly names: ReadonlyMap<string, { name: string; columns: ReadonlyMap<string, string> }>;
}

/** A random number generator (mulberry32). A seed always gives the same numbers. */
export function randomness(seed: number) {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value ^= value + Math.imul(value ^ (value >>> 7), 61 | value);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    chance: (share: number): boolean => next() < share,
    below: (limit: number): number => Math.floor(next() * limit),
    pick: <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T,
  };
}

/** What makes the choices. */
export type Randomness = ReturnType<typeof randomness>;

interface View {
  name: string;
  from: string;
  /** The selected columns; empty for all. */
  columns: string[];
}

interface MaterializedView {
  name: string;
  base: string;
  /** The column whose sum is computed; if undefined, rows are counted. */
  sum: string | undefined;
  interval: string;
  refresh: string;
  ttl: string;
}

interface Model {
  tables: TableDefinition[];
  views: View[];
  materializedViews: MaterializedView[];
}

const TYPES = 'INT LONG DOUBLE FLOAT SHORT SYMBOL VARCHAR STRING BOOLEAN UUID TIMESTAMP DECIMAL(10,2)'.split(' ');
const NUMBERS = ['INT', 'LONG', 'DOUBLE', 'FLOAT', 'SHORT'];
const COLUMNS = ['a', 'b', 'qty', 'price', 'my col', 'select', 'Mixed', 'größe', 'col', 'if'];
const TABLES = ['trades', 'my table', 'a.b', 'Quotes', 'über'];

const column = (name: string, type: string): Column => ({ name, type, cached: true, dedup: false });

function newColumn(name: string, random: Randomness): Column {
  const type = random.pick(TYPES);
  const added = column(name, type);
  if (type === 'SYMBOL') {
    added.cached = random.chance(0.7);
    if (random.chance(0.4)) added.index = { type: 'BITMAP', capacity: random.pick([64, 256]) };
  } else if (random.chance(0.1) && type === 'INT') added.parquet = 'plain';
  return added;
}

function newTable(name: string, random: Randomness): TableDefinition {
  const isPartitioned = random.chance(0.9);
  const wal = isPartitioned && random.chance(0.9);
  const columns = [column('ts', 'TIMESTAMP')];
  const names = COLUMNS.filter(() => random.chance(0.5));
  for (const each of names) columns.push(newColumn(each, random));
  if (wal && random.chance(0.4)) {
    (columns[0] as Column).dedup = true;
    for (const each of columns.slice(1)) if (random.chance(0.3)) each.dedup = true;
  }
  return {
    kind: 'table',
    name,
    columns,
    timestamp: isPartitioned ? 'ts' : undefined,
    partitionBy: isPartitioned ? random.pick(['DAY', 'DAY', 'HOUR', 'MONTH'] as const) : 'NONE',
    ttl: isPartitioned && random.chance(0.2) ? -12 : 0,
    wal,
    parquet: false,
  };
}

const numbersOf = (table: TableDefinition): string[] =>
  table.columns.filter(({ type }) => NUMBERS.includes(type)).map(({ name }) => name);

function newView(name: string, model: Model, random: Randomness): View {
  const from = random.pick([...model.tables.map(table => table.name), ...model.views.map(view => view.name)]);
  const columns = columnsOf(model, from);
  return { name, from, columns: random.chance(0.3) ? [] : columns.filter((_, i) => i === 0 || random.chance(0.5)) };
}

/** The columns of a table or a view. */
function columnsOf(model: Model, name: string): string[] {
  const table = model.tables.find(each => each.name === name);
  if (table) return table.columns.map(each => each.name);
  const view = model.views.find(each => each.name === name);
  return view ? (view.columns.length > 0 ? view.columns : columnsOf(model, view.from)) : [];
}

const canBeBase = ({ wal, timestamp }: TableDefinition): boolean => wal && timestamp !== undefined;

function newMaterializedView(name: string, model: Model, random: Randomness): MaterializedView | undefined {
  const bases = model.tables.filter(canBeBase);
  if (bases.length === 0) return undefined;
  const base = random.pick(bases);
  const sum = numbersOf(base)[0];
  const refresh = random.pick(['IMMEDIATE', 'IMMEDIATE', 'MANUAL', "EVERY 1h START '2030-01-01T00:00:00.000000Z'"]);
  return {
    name,
    base: base.name,
    sum,
    interval: random.pick(['1h', '1d']),
    refresh,
    ttl: random.pick(['', '', ' TTL 1 WEEK']),
  };
}

function newModel(random: Randomness): Model {
  const model: Model = { tables: [], views: [], materializedViews: [] };
  for (const name of TABLES.slice(0, 1 + random.below(3))) model.tables.push(newTable(name, random));
  for (const name of ['v1', 'v2', 'v three'].slice(0, random.below(4))) model.views.push(newView(name, model, random));
  for (const name of ['m1', 'm2'].slice(0, random.below(3))) {
    const view = newMaterializedView(name, model, random);
    if (view) model.materializedViews.push(view);
  }
  return model;
}

const quoted = (name: string): string => `"${name}"`;

function print({ tables, views, materializedViews }: Model): string[] {
  return [
    ...tables.map(table => printDefinition(table, { quoted: true })),
    ...views.map(
      ({ name, from, columns }) =>
        `CREATE VIEW '${name}' AS (\nselect ${columns.map(quoted).join(', ') || '*'} from ${quoted(from)}\n);`,
    ),
    ...materializedViews.map(
      ({ name, base, sum, interval, refresh, ttl }) =>
        `CREATE MATERIALIZED VIEW '${name}' WITH BASE '${base}' REFRESH ${refresh} AS (\nselect ts, ${sum === undefined ? 'count()' : `sum(${quoted(sum)})`} n from ${quoted(base)} sample by ${interval}\n) PARTITION BY DAY${ttl};`,
    ),
  ];
}

/** Changes a model in place and describes the change; undefined if the change is not possible. */
type Mutation = (model: Model, random: Randomness, pair: Draft) => string | undefined;

interface Draft {
  names: Map<string, { name: string; columns: Map<string, string> }>;
}

const withTable =
  (change: (table: TableDefinition, model: Model, random: Randomness, pair: Draft) => string | undefined): Mutation =>
  (model, random, pair) => {
    const table = random.pick(model.tables);
    return table && change(table, model, random, pair);
  };

const replace = (model: Model, table: TableDefinition, other: Partial<TableDefinition>): void => {
  model.tables[model.tables.indexOf(table)] = { ...table, ...other };
};

/** Changes all views that read a column: they read the renamed column, or no longer read it. */
function follow(model: Model, relation: string, from: string, to: string | undefined): void {
  for (const view of model.views)
    if (view.from === relation && (view.columns.includes(from) || view.columns.length === 0)) {
      const isStar = view.columns.length === 0;
      if (!isStar) {
        view.columns = view.columns.flatMap(name => (name === from ? (to ?? []) : [name]));
        if (view.columns.length === 0) view.columns = ['ts'];
      }
      follow(model, view.name, from, to);
    }
  for (const view of model.materializedViews) if (view.base === relation && view.sum === from) view.sum = to;
}

/** The next number for a new name. */
let serial = 10;

const nonTimestampColumns = ({ columns }: TableDefinition): Column[] => columns.filter(({ name }) => name !== 'ts');

const MUTATIONS: Mutation[] = [
  withTable((table, model, random) => {
    const name = random.pick(COLUMNS.map(each => `${each}2`));
    if (table.columns.some(each => each.name === name)) return undefined;
    const at = random.chance(0.85) ? table.columns.length : 1;
    replace(model, table, { columns: table.columns.toSpliced(at, 0, newColumn(name, random)) });
    return `${table.name}: add ${name} at ${at}`;
  }),
  withTable((table, model, random) => {
    const gone = random.pick(nonTimestampColumns(table));
    if (!gone) return undefined;
    replace(model, table, { columns: table.columns.filter(each => each !== gone) });
    follow(model, table.name, gone.name, undefined);
    return `${table.name}: drop ${gone.name}`;
  }),
  withTable((table, model, random, pair) => {
    const old = random.pick(nonTimestampColumns(table));
    const known = [...pair.names].find(([, { name }]) => name === table.name);
    if (!old || !known || [...known[1].columns.values()].includes(old.name) || old.name.endsWith('2')) return undefined;
    const name = `${old.name}3`;
    replace(model, table, { columns: table.columns.map(each => (each === old ? { ...each, name } : each)) });
    follow(model, table.name, old.name, name);
    known[1].columns.set(old.name, name);
    return `${table.name}: rename ${old.name}`;
  }),
  withTable((table, model, random) => {
    const old = random.pick(nonTimestampColumns(table));
    if (!old) return undefined;
    const { index: _, parquet: __, ...rest } = old;
    const type = random.pick(TYPES);
    replace(model, table, {
      columns: table.columns.map(each => (each === old ? { ...rest, type, cached: true } : each)),
    });
    if (!NUMBERS.includes(type))
      for (const view of model.materializedViews)
        if (view.base === table.name && view.sum === old.name) view.sum = undefined;
    return `${table.name}: ${old.name} ${old.type} to ${type}`;
  }),
  withTable((table, model, random) => {
    const symbol = table.columns.find(({ type }) => type === 'SYMBOL');
    if (!symbol) return undefined;
    const { index, ...rest } = symbol;
    const other: Column = random.chance(0.5)
      ? { ...symbol, cached: !symbol.cached }
      : index
        ? rest
        : { ...rest, index: { type: 'BITMAP', capacity: 128 } };
    replace(model, table, { columns: table.columns.map(each => (each === symbol ? other : each)) });
    return `${table.name}: options of ${symbol.name}`;
  }),
  withTable((table, model, random) => {
    if (!table.wal) return undefined;
    const isOff = random.chance(0.2);
    const columns = table.columns.map(each => ({
      ...each,
      dedup: !isOff && (each.name === 'ts' || random.chance(0.4)),
    }));
    replace(model, table, { columns });
    return `${table.name}: dedup keys`;
  }),
  withTable((table, model, random) => {
    if (table.partitionBy === 'NONE') return undefined;
    replace(model, table, { ttl: random.pick([0, -12, -24, -36]) });
    return `${table.name}: TTL`;
  }),
  withTable((table, model, random, pair) => {
    const known = [...pair.names].find(([, { name }]) => name === table.name);
    if (!known || known[0] !== table.name || !random.chance(0.5)) return undefined;
    const name = `${table.name} renamed`;
    replace(model, table, { name });
    for (const view of model.views) if (view.from === table.name) view.from = name;
    for (const view of model.materializedViews) if (view.base === table.name) view.base = name;
    known[1].name = name;
    return `rename ${table.name}`;
  }),
  withTable((table, model, random) => {
    if (!random.chance(0.3) || nonTimestampColumns(table).length < 2) return undefined;
    if (random.chance(0.5) && table.partitionBy === 'DAY') {
      replace(model, table, { partitionBy: 'HOUR', ttl: table.ttl });
      return `${table.name}: partitioning`;
    }
    const [first, ...others] = nonTimestampColumns(table);
    replace(model, table, { columns: [table.columns[0] as Column, ...others, first as Column] });
    return `${table.name}: column order`;
  }),
  (model, random) => {
    const name = `new${serial++}`;
    model.tables.push(newTable(name, random));
    return `new table ${name}`;
  },
  (model, random) => {
    const table = random.pick(model.tables);
    const isUsed =
      model.views.some(({ from }) => from === table?.name) ||
      model.materializedViews.some(({ base }) => base === table?.name);
    if (!table || isUsed || model.tables.length < 2) return undefined;
    model.tables.splice(model.tables.indexOf(table), 1);
    return `drop table ${table.name}`;
  },
  (model, random) => {
    model.views.push(newView(`v${serial++}`, model, random));
    return 'new view';
  },
  (model, random) => {
    const view = random.pick(model.views);
    if (!view || model.views.some(({ from }) => from === view.name)) return undefined;
    if (random.chance(0.3)) model.views.splice(model.views.indexOf(view), 1);
    else
      Object.assign(
        view,
        newView(view.name, { ...model, views: model.views.slice(0, model.views.indexOf(view)) }, random),
      );
    return `view ${view.name}`;
  },
  (model, random) => {
    const view = newMaterializedView(`m${serial++}`, model, random);
    if (!view) return undefined;
    model.materializedViews.push(view);
    return 'new materialized view';
  },
  (model, random) => {
    const view = random.pick(model.materializedViews);
    if (!view) return undefined;
    if (random.chance(0.2)) model.materializedViews.splice(model.materializedViews.indexOf(view), 1);
    else if (random.chance(0.3)) view.interval = view.interval === '1h' ? '2h' : '1h';
    else if (random.chance(0.5)) view.refresh = view.refresh === 'MANUAL' ? 'IMMEDIATE' : 'MANUAL';
    else view.ttl = random.pick(['', ' TTL 1 WEEK', ' TTL 2 WEEKS']);
    return `materialized view ${view.name}`;
  },
];

/** Generates the pair of a seed. */
export function schemaPair(seed: number): SchemaPair {
  const random = randomness(seed);
  serial = 10;
  const model = newModel(random);
  const before = print(model);
  const tables = [...model.tables];
  const draft: Draft = { names: new Map(tables.map(({ name }) => [name, { name, columns: new Map() }])) };
  const changes: string[] = [];
  const count = 1 + random.below(5);
  for (let tries = 0; changes.length < count && tries < 50; tries++) {
    const done = random.pick(MUTATIONS)(model, random, draft);
    if (done !== undefined) changes.push(done);
  }
  return { before, after: print(model), renamed: renamesOf(draft, model), changes, tables, names: draft.names };
}

/** The renames that are still valid at the end: a renamed table or column may have been dropped or renamed again. */
function renamesOf({ names }: Draft, model: Model): string[] {
  return [...names].flatMap(([from, { name, columns }]) => {
    const table = model.tables.find(each => each.name === name);
    if (!table) return [];
    const ofColumns = [...columns].filter(([, to]) => table.columns.some(each => each.name === to));
    return [
      ...(name === from ? [] : [`'${from}'='${name}'`]),
      ...ofColumns.map(([column, to]) => `'${from}'.'${column}'='${to}'`),
    ];
  });
}
