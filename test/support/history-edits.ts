/*! The schemas of pairs with history, and the changes of them. */
import type { Randomness } from './schema-pairs.js';

/** A table partitioned by day. TTLs are in days. */
export interface Table {
  name: string;
  columns: { name: string; type: string; isIndexed?: boolean }[];
  ttl: number;
  keys: string[];
}

/** A plain view; with a minimum, of the rows whose `qty` is at least that. */
export interface View {
  name: string;
  from: string;
  columns: string[];
  minimum: number;
}

/** A materialized view partitioned by day. */
export interface MaterializedView {
  name: string;
  base: string;
  /** What its query reads: the base, or a plain view over it. */
  from: string;
  /** The columns that are aggregated. */
  columns: string[];
  hasKey: boolean;
  /** The column of table `j` that it joins, whose last value is its column `w`. */
  joined: string | undefined;
  aggregate: string;
  interval: string;
  refresh: string;
  ttl: number;
}

/** A schema, and what was changed in it. */
export interface Model {
  tables: Table[];
  views: View[];
  materialized: MaterializedView[];
  redefined: Set<string>;
  renamed: string[];
}

/** The columns that an object of the wanted schema has; undefined if it is missing. */
export function columnsOf({ tables, views, materialized }: Model, name: string): string[] | undefined {
  const table = tables.find(each => each.name === name);
  if (table) return table.columns.map(each => each.name);
  const view = views.find(each => each.name === name);
  if (view) return ['ts', ...view.columns];
  const found = materialized.find(each => each.name === name);
  return found && ['ts', ...(found.hasKey ? ['k'] : []), ...found.columns, ...(found.joined ? ['w'] : []), 'n'];
}

/** Changes the wanted schema. Returns what it did; undefined if it does not apply. */
export type Edit = (model: Model, random: Randomness) => string | undefined;

const withView =
  (edit: (view: MaterializedView, random: Randomness, model: Model) => string | undefined): Edit =>
  (model, random) => {
    const view = random.pick(model.materialized);
    const done = view && edit(view, random, model);
    return done && `${view.name}: ${done}`;
  };

const withColumn =
  (
    edit: (column: Table['columns'][number], table: Table, random: Randomness, model: Model) => string | undefined,
  ): Edit =>
  (model, random) => {
    const table = random.pick(model.tables);
    const column = random.pick(table?.columns.slice(2) ?? []);
    return table && column && edit(column, table, random, model);
  };

/** Replaces a column in all views that read it, at any distance, or removes it. */
function replaceInReaders(model: Model, table: string, column: string, replacement?: string): void {
  const changed = new Set([table]);
  const replaceIn = (view: View | MaterializedView): void => {
    if (!changed.has(view.from) || !view.columns.includes(column)) return;
    view.columns = view.columns.flatMap(each => (each === column ? (replacement ?? []) : each));
    model.redefined.add(view.name);
    changed.add(view.name);
  };
  for (const view of model.views) replaceIn(view);
  for (const view of model.materialized) {
    replaceIn(view);
    if (table !== 'j' || view.joined !== column) continue;
    view.joined = replacement;
    model.redefined.add(view.name);
    if (replacement === undefined) changed.add(view.name);
  }
  for (const view of model.views) replaceIn(view);
}

const changeType = (column: Table['columns'][number], type: string | undefined): string | undefined => {
  if (type === undefined) return undefined;
  const was = column.type;
  column.type = type;
  return `${column.name} ${was} to ${type}`;
};

const LOSSLESS: Readonly<Record<string, string>> = { INT: 'LONG', FLOAT: 'DOUBLE', VARCHAR: 'STRING' };
const NARROWING: Readonly<Record<string, string>> = { INT: 'SHORT', LONG: 'INT', DOUBLE: 'FLOAT' };

/** All changes. */
export const EDITS: readonly Edit[] = [
  withView((view, random, model) => {
    model.redefined.add(view.name);
    const change = random.pick(['aggregate', 'aggregate', 'interval', 'key', 'column']);
    if (change === 'aggregate') view.aggregate = view.aggregate === 'sum' ? 'min' : 'sum';
    else if (change === 'interval') view.interval = view.interval === '1d' ? '6h' : '1d';
    else if (change === 'key') view.hasKey = !view.hasKey;
    else view.columns = view.columns.slice(0, -1);
    return `query (${change})`;
  }),
  withView((view, random) => {
    const refresh = random.pick(['IMMEDIATE', 'MANUAL', 'EVERY 2h']);
    if (view.refresh === refresh) return undefined;
    view.refresh = refresh;
    return `REFRESH ${refresh}`;
  }),
  withView((view, random) => {
    const ttl = random.pick([0, 1, 4, 30]);
    if (ttl === view.ttl) return undefined;
    const was = view.ttl;
    view.ttl = ttl;
    return `TTL ${was} to ${ttl} days`;
  }),
  withView((view, random, model) => {
    const isLast = !model.materialized.some(({ base }) => base === view.name);
    if (!isLast && random.chance(0.6)) return undefined;
    model.materialized.splice(model.materialized.indexOf(view), 1);
    if (random.chance(0.7)) model.views = model.views.filter(({ from }) => from !== view.name);
    return 'dropped';
  }),
  withColumn((column, table, random, model) => {
    const was = column.name;
    if (was.endsWith('2')) return undefined;
    column.name = `${was}2`;
    model.renamed.push(`${table.name}.${was}=${column.name}`);
    const hasReaders = random.chance(0.6);
    if (hasReaders) replaceInReaders(model, table.name, was, column.name);
    return `${table.name}.${was} renamed ${hasReaders ? 'with its readers' : ''}`;
  }),
  withColumn((column, table, random, model) => {
    if (column.name.endsWith('2') || table.columns.length < 4) return undefined;
    table.columns.splice(table.columns.indexOf(column), 1);
    const hasReaders = random.chance(0.6);
    if (hasReaders) replaceInReaders(model, table.name, column.name);
    return `${table.name}.${column.name} dropped ${hasReaders ? 'with its readers' : ''}`;
  }),
  withColumn((column, table) => {
    const done = changeType(column, LOSSLESS[column.type]);
    return done && `${table.name}.${done}`;
  }),
  withColumn((column, table) => {
    const done = changeType(column, LOSSLESS[column.type]);
    return done && `${table.name}.${done}`;
  }),
  withColumn((column, table, _, model) => {
    const done = changeType(column, NARROWING[column.type]);
    if (done) model.redefined.add(table.name);
    return done && `${table.name}.${done}`;
  }),
  (model, random) => {
    const table = random.pick(model.tables) as Table;
    const ttl = random.pick([0, 1, 4, 30]);
    if (ttl === table.ttl) return undefined;
    const was = table.ttl;
    table.ttl = ttl;
    return `${table.name}: TTL ${was} to ${ttl} days`;
  },
  (model, random) => {
    const table = random.pick(model.tables) as Table;
    table.keys = table.keys.length > 0 ? random.pick([[], ['ts']]) : ['ts', 'k'];
    return `${table.name}: dedup keys ${table.keys}`;
  },
  (model, random) => {
    const table = random.pick(model.tables) as Table;
    const [, key] = table.columns;
    if (!key || key.isIndexed) return undefined;
    key.isIndexed = true;
    return `${table.name}: index`;
  },
  (model, random) => {
    const table = random.pick(model.tables) as Table;
    if (columnsOf(model, table.name)?.includes('added')) return undefined;
    table.columns.push({ name: 'added', type: 'INT' });
    return `${table.name}: new column`;
  },
  (model, random) => {
    const view = random.pick(model.views);
    if (!view) return undefined;
    if (random.chance(0.5)) {
      model.views.splice(model.views.indexOf(view), 1);
      return `${view.name}: dropped`;
    }
    model.redefined.add(view.name);
    if (view.minimum > 0) view.minimum--;
    else view.columns = view.columns.slice(0, 1);
    return `${view.name}: query`;
  },
];
