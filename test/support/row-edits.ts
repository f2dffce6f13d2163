/*! Random changes of a schema with rows: what somebody may write into the wanted schema, whether a planner can do it or not. */
import {
  type Column,
  find,
  INTERVALS,
  type MaterializedView,
  type Names,
  NUMBERS,
  newColumn,
  newMaterializedView,
  newTable,
  newView,
  queryOf,
  type Relation,
  readsOf,
  type Schema,
  type Table,
  TYPES,
  type View,
} from './row-schemas.js';
import type { Randomness } from './schema-pairs.js';

/** A schema that is being changed, and what was said about it. */
export interface Draft {
  readonly schema: Schema;
  readonly names: Names;
  /** How the rename of an object or a column is stated, by its number: as an option, by a comment, or not at all. */
  readonly stated: Map<number, 'option' | 'comment' | 'no'>;
  readonly rebuilt: Set<number>;
}

/** Changes a draft, and says how; undefined if it does not apply. */
export type Edit = (draft: Draft, random: Randomness) => string | undefined;

const ofKind =
  <K extends Relation['kind']>(
    kind: K,
    edit: (relation: Extract<Relation, { kind: K }>, draft: Draft, random: Randomness) => string | undefined,
  ): Edit =>
  (draft, random) => {
    const all = draft.schema.relations.filter((each): each is Extract<Relation, { kind: K }> => each.kind === kind);
    const relation = random.pick(all);
    const done = relation && edit(relation, draft, random);
    return done && `${relation.name}: ${done}`;
  };

const withColumn = (
  edit: (column: Column, table: Table, draft: Draft, random: Randomness) => string | undefined,
  isMeant: (column: Column) => boolean = ({ role }) => role === 'value' || role === 'key',
): Edit =>
  ofKind('table', (table, draft, random) => {
    const column = random.pick(table.columns.filter(isMeant));
    return column && edit(column, table, draft, random);
  });

const state = ({ stated }: Draft, uid: number, random: Randomness, mayBeSilent = true): string => {
  const how = random.pick([
    'option',
    'option',
    'comment',
    'comment',
    'comment',
    ...(mayBeSilent ? ['no' as const] : []),
  ] as const);
  stated.set(uid, how);
  return how === 'no' ? 'without a word' : `by ${how}`;
};

/** Removes relations, and what reads them unless that is to be broken. */
function remove(draft: Draft, uid: number, random: Randomness): void {
  const { relations } = draft.schema;
  const readers = relations.filter(each => readsOf(each).includes(uid));
  relations.splice(
    relations.findIndex(each => each.uid === uid),
    1,
  );
  for (const reader of readers)
    if (relations.includes(reader) && !(reader.kind === 'view' && random.chance(0.05)))
      remove(draft, reader.uid, random);
}

/** Removes a column of a relation, and each column that reads it. */
function removeColumn({ schema }: Draft, relation: Relation, uid: number): void {
  relation.columns = relation.columns.filter(each => each.uid !== uid);
  if (relation.kind === 'table') relation.keys = relation.keys.filter(each => each !== uid);
  for (const reader of schema.relations) {
    if (reader.kind === 'table') continue;
    for (const [own, read] of reader.source) if (read === uid) removeColumn({ schema } as Draft, reader, own);
  }
}

const renameObject: Edit = (draft, random) => {
  const relation = random.pick(draft.schema.relations);
  if (!relation) return undefined;
  const was = relation.name;
  relation.name = draft.names.fresh(was);
  return `${relation.kind} ${was} renamed to ${relation.name} ${state(draft, relation.uid, random)}`;
};

const swapObjects: Edit = (draft, random) => {
  const [one, other] = [random.pick(draft.schema.relations), random.pick(draft.schema.relations)];
  if (!one || !other || one === other) return undefined;
  [one.name, other.name] = [other.name, one.name];
  return `${one.name} and ${other.name} swapped, ${state(draft, one.uid, random)} and ${state(draft, other.uid, random)}`;
};

const takeName: Edit = (draft, random) => {
  const [gone, other] = [random.pick(draft.schema.relations), random.pick(draft.schema.relations)];
  if (!gone || !other || gone === other) return undefined;
  remove(draft, gone.uid, random);
  if (!draft.schema.relations.includes(other)) return `${gone.name} dropped`;
  const was = other.name;
  other.name = gone.name;
  return `${gone.name} dropped, and ${was} gets its name, ${state(draft, other.uid, random)}`;
};

const changeKind: Edit = (draft, random) => {
  const { schema, names } = draft;
  const gone = random.pick(schema.relations);
  if (!gone) return undefined;
  const others = schema.relations.filter(each => each !== gone);
  const tables = others.filter((each): each is Table => each.kind === 'table' && each.wal);
  const base = random.pick(tables);
  const makers = [
    () => gone.kind !== 'table' && newTable(names, gone.name, random),
    () => gone.kind !== 'view' && base && newView(names, gone.name, base, random),
    () =>
      gone.kind !== 'materialized view' && base && newMaterializedView(names, gone.name, base, base, undefined, random),
  ];
  const made = random.pick(makers)();
  if (!made) return undefined;
  remove(draft, gone.uid, random);
  if (made.kind !== 'table' && !find(schema, made.from)) return `${gone.name} dropped`;
  schema.relations.push(made);
  return `${gone.kind} ${gone.name} becomes a ${made.kind}`;
};

const TTLS = ['', '', '12 HOURS', '1 DAY', '2 DAYS', '4 DAYS', '2 WEEKS', '1 MONTH'];

const setTtl = (target: Table | MaterializedView, random: Randomness): string | undefined => {
  const ttl = random.pick(
    target.kind === 'table' && target.partitionBy === 'DAY' ? TTLS.filter(each => !each.endsWith('HOURS')) : TTLS,
  );
  if (ttl === target.ttl) return undefined;
  const was = target.ttl;
  target.ttl = ttl;
  return `TTL ${was || 'none'} to ${ttl || 'none'}`;
};

const changeQuery = (view: MaterializedView, draft: Draft, random: Randomness): string | undefined => {
  const before = queryOf(draft.schema, view);
  const what = random.pick(['interval', 'aggregate', 'where', 'key', 'column', 'join', 'from']);
  const values = view.columns.filter(({ role }) => role === 'value');
  if (what === 'interval') view.interval = random.pick(INTERVALS);
  else if (what === 'aggregate') {
    const column = random.pick(values);
    if (column) view.aggregates.set(column.uid, random.pick(['min', 'max', 'first', 'last']));
  } else if (what === 'where') view.without = random.pick([0, 3, 5]);
  else if (what === 'key' || what === 'column') {
    const column = random.pick(view.columns.filter(({ role }) => role === (what === 'key' ? 'key' : 'value')));
    if (column) removeColumn(draft, view, column.uid);
  } else if (what === 'join' && view.joined !== undefined) {
    const joined = find(draft.schema, view.joined);
    for (const { uid } of [...view.columns])
      if (joined?.columns.some(each => each.uid === view.source.get(uid))) removeColumn(draft, view, uid);
    view.joined = undefined;
  } else if (what === 'from' && view.from !== view.base) {
    // Reads the base itself, where it has read a plain view of it.
    const over = find(draft.schema, view.from);
    if (over?.kind === 'view') {
      for (const [own, read] of view.source) view.source.set(own, over.source.get(read) ?? read);
      view.from = view.base;
    }
  }
  return queryOf(draft.schema, view) === before ? undefined : `query (${what})`;
};

/** Views of a column that is no number any more, at any distance, take its last value. */
function avoidSums({ relations }: Schema, uid: number): void {
  for (const reader of relations) {
    if (reader.kind === 'table') continue;
    for (const [own, read] of reader.source) {
      if (read !== uid) continue;
      if (reader.kind === 'materialized view') reader.aggregates.set(own, 'last');
      avoidSums({ relations }, own);
    }
  }
}

const KEEPING: Readonly<Record<string, readonly string[]>> = {
  SHORT: ['INT', 'LONG', 'DOUBLE'],
  INT: ['LONG', 'DOUBLE', 'VARCHAR'],
  LONG: ['DOUBLE', 'VARCHAR', 'TIMESTAMP'],
  FLOAT: ['DOUBLE'],
  VARCHAR: ['STRING', 'SYMBOL'],
  STRING: ['VARCHAR', 'SYMBOL'],
  SYMBOL: ['VARCHAR', 'STRING'],
};

const swapColumns = withColumn((column, table, draft, random) => {
  const other = random.pick(table.columns.filter(each => each !== column && each.role === 'value'));
  if (!other) return undefined;
  [column.name, other.name] = [other.name, column.name];
  return `columns ${column.name} and ${other.name} swapped, ${state(draft, column.uid, random)} and ${state(draft, other.uid, random)}`;
});

const takeColumnName = withColumn((column, table, draft, random) => {
  const other = random.pick(table.columns.filter(each => each !== column && each.role === 'value'));
  if (!other) return undefined;
  removeColumn(draft, table, column.uid);
  const was = other.name;
  other.name = column.name;
  return `column ${column.name} dropped, and ${was} gets its name, ${state(draft, other.uid, random)}`;
});

/** Changes that give an object or a column the name of another one. */
export const TAKING_NAMES: ReadonlySet<Edit> = new Set([
  swapObjects,
  takeName,
  changeKind,
  swapColumns,
  takeColumnName,
]);

/** All changes; a frequent one stands here more than once. */
const EDITS: readonly Edit[] = [
  renameObject,
  renameObject,
  renameObject,
  swapObjects,
  takeName,
  changeKind,
  withColumn(
    (column, _, draft, random) => {
      const was = column.name;
      column.name = draft.names.fresh(was);
      // Without its id, a row could not be told from others.
      return `column ${was} renamed to ${column.name} ${state(draft, column.uid, random, column.role !== 'id')}`;
    },
    ({ role }) => role !== 'ts',
  ),
  withColumn(
    (column, _, draft, random) => {
      if (random.chance(0.9)) return undefined;
      const was = column.name;
      column.name = draft.names.fresh(was);
      return `designated timestamp ${was} renamed to ${column.name} ${state(draft, column.uid, random)}`;
    },
    ({ role }) => role === 'ts',
  ),
  swapColumns,
  takeColumnName,
  withColumn((column, table, draft) => {
    removeColumn(draft, table, column.uid);
    return `column ${column.name} dropped`;
  }),
  withColumn((column, table, draft, random) => {
    removeColumn(draft, table, column.uid);
    table.columns.push(newColumn(draft.names, column.name, 'value', random.pick(TYPES)));
    return `column ${column.name} is another one`;
  }),
  ...Array.from({ length: 3 }, () =>
    withColumn((column, _, draft, random) => {
      const was = column.type;
      column.type = random.pick(random.chance(0.5) ? (KEEPING[was] ?? TYPES) : TYPES);
      if (!NUMBERS.test(column.type)) avoidSums(draft.schema, column.uid);
      return column.type === was ? undefined : `column ${column.name} ${was} to ${column.type}`;
    }),
  ),
  withColumn(
    (column, _, __, random) => {
      if (random.chance(0.6)) return undefined;
      const was = column.type;
      column.type = random.pick(['VARCHAR', 'INT', 'DOUBLE', 'STRING']);
      return column.type === was ? undefined : `id ${was} to ${column.type}`;
    },
    ({ role }) => role === 'id',
  ),
  withColumn(
    (column, _, __, random) => {
      const what = random.pick(['index', 'nocache', 'capacity'] as const);
      if (what === 'capacity') column.capacity = random.pick([256, 1024]);
      else column[what] = !column[what];
      return `column ${column.name}: ${what}`;
    },
    ({ type }) => type === 'SYMBOL',
  ),
  ofKind('table', (table, draft, random) => {
    table.columns.push(newColumn(draft.names, draft.names.fresh('added'), 'value', random.pick(TYPES)));
    return 'new column';
  }),
  ofKind('table', (table, _, random) => setTtl(table, random)),
  ofKind('table', (table, _, random) => {
    const keys = table.columns
      .filter(({ role }) => role === 'ts' || role === 'key' || role === 'id')
      .map(({ uid }) => uid);
    const was = table.keys;
    table.keys = random.pick([[], keys, keys.slice(0, 1), keys.slice(0, 2)]);
    return table.keys.join() === was.join() ? undefined : `dedup keys ${was} to ${table.keys}`;
  }),
  ...Array.from({ length: 2 }, () =>
    ofKind('table', (table, { rebuilt, schema }, random) => {
      if (random.chance(0.8)) rebuilt.add(table.uid);
      const what = random.pick(['order', 'order', 'partitioning', 'WAL']);
      if (what === 'order') {
        const [moved] = table.columns.splice(2 + random.below(table.columns.length - 2), 1);
        if (!moved) return undefined;
        table.columns.splice(random.below(2), 0, moved);
      } else if (what === 'partitioning') {
        const was = table.partitionBy;
        table.partitionBy = random.pick(['HOUR', 'DAY', 'WEEK', 'MONTH'] as const);
        if (table.ttl !== '') table.ttl = '1 MONTH';
        if (was === table.partitionBy) return undefined;
      } else {
        const isBase = schema.relations.some(each => each.kind === 'materialized view' && each.base === table.uid);
        if (isBase && random.chance(0.9)) return undefined;
        table.wal = !table.wal;
        if (!table.wal) table.keys = [];
      }
      return `${what}${rebuilt.has(table.uid) ? ' with a rebuild' : ''}`;
    }),
  ),
  ofKind('materialized view', changeQuery),
  ofKind('materialized view', changeQuery),
  ofKind('materialized view', (view, _, random) => {
    const was = view.refresh;
    view.refresh = random.pick(['IMMEDIATE', 'MANUAL', 'EVERY 2h', 'MANUAL DEFERRED', 'IMMEDIATE DEFERRED']);
    return was === view.refresh ? undefined : `REFRESH ${was} to ${view.refresh}`;
  }),
  ofKind('materialized view', (view, _, random) => setTtl(view, random)),
  ofKind('materialized view', (view, draft, random) => {
    const was = find(draft.schema, view.base)?.name;
    const base = random.pick(
      draft.schema.relations.filter(
        (each): each is Table => each.kind === 'table' && each.wal && each.uid !== view.base,
      ),
    );
    if (!base) return undefined;
    const made = newMaterializedView(draft.names, view.name, base, base, undefined, random);
    const { kind: _, uid: __, name: ___, ...other } = made;
    for (const reader of draft.schema.relations.filter(each => each !== view && readsOf(each).includes(view.uid)))
      if (draft.schema.relations.includes(reader)) remove(draft, reader.uid, random);
    Object.assign(view, other);
    return `base ${was} to ${base.name}`;
  }),
  (draft, random) => {
    const relation = random.pick(draft.schema.relations);
    if (!relation) return undefined;
    remove(draft, relation.uid, random);
    return `${relation.kind} ${relation.name} dropped`;
  },
  (draft, random) => {
    const { schema, names } = draft;
    const base = random.pick(schema.relations);
    const name = names.fresh('new');
    const made =
      base === undefined || random.chance(0.3)
        ? newTable(names, name, random)
        : (base.kind === 'table' && base.wal) || base.kind === 'materialized view'
          ? newMaterializedView(names, name, base, base, undefined, random)
          : newView(names, name, base, random);
    schema.relations.push(made);
    return `new ${made.kind} ${name}`;
  },
  ofKind('view', (view: View, draft, random) => {
    if (random.chance(0.5)) {
      const column = random.pick(view.columns.filter(({ role }) => role === 'value'));
      if (!column) return undefined;
      removeColumn(draft, view, column.uid);
    } else {
      if (find(draft.schema, view.from)?.kind !== 'table') return undefined;
      view.without = view.without === 0 ? 3 : 0;
    }
    return 'query';
  }),
];

export function editSome(draft: Draft, random: Randomness, isMeant: (edit: Edit) => boolean = () => true): string[] {
  const edits = EDITS.filter(isMeant);
  const changes: string[] = [];
  const count = 1 + random.below(4);
  for (let tries = 0; changes.length < count && tries < 60; tries++) {
    const done = random.pick(edits)(draft, random);
    if (done !== undefined) changes.push(done);
  }
  return changes;
}
