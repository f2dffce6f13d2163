/*! Schemas of recorded objects, where the recordings are, and what somebody may have made of each. Always the same for a seed. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Column,
  type Definition,
  findColumn,
  findReferences,
  isSystemTable,
  printDefinition,
  type TableDefinition,
  tryParseDefinition,
} from '@sqlpipe/ddl';
import { foldCase } from '@sqlpipe/sql';
import { CORPUS } from './corpus.js';
import { parseJsonLines } from './json-lines.js';
import { type Randomness, randomness, type SchemaPair } from './schema-pairs.js';

/** An object that a server has made and printed, with the tables that it needs. */
interface Recorded {
  readonly bases: readonly TableDefinition[];
  readonly object: Definition;
}

interface Row {
  readonly show_create?: string;
  readonly replay_status?: number;
  readonly roundtrip?: boolean;
  readonly roundtrip_trimmed?: boolean;
  readonly setup?: unknown;
  readonly server_config?: unknown;
  readonly base_ddl?: readonly string[];
}

const rows = (file: string): Row[] =>
  CORPUS === undefined ? [] : parseJsonLines(readFileSync(join(CORPUS, file), 'utf8'));

const isTable = (definition: Definition | undefined): definition is TableDefinition =>
  definition?.kind === 'table' && definition.query === undefined && definition.like === undefined;

/** Those that come back the same, so that only changes are different. */
function recorded(): Recorded[] {
  const tables = rows('tables.jsonl').filter(({ setup }) => setup === undefined);
  const views = rows('views.jsonl').filter(({ base_ddl = [] }) => base_ddl.length > 0);
  return [...tables, ...views].flatMap(row => {
    if (row.replay_status !== 200 || row.server_config !== undefined || !(row.roundtrip || row.roundtrip_trimmed))
      return [];
    const object = tryParseDefinition(row.show_create ?? '');
    const bases = (row.base_ddl ?? []).map(statement => tryParseDefinition(statement));
    if (!object || !bases.every(isTable) || [object, ...bases].some(({ name }) => isSystemTable(name))) return [];
    return [{ bases, object }];
  });
}

let objects: Recorded[] | undefined;

interface Draft {
  readonly tables: TableDefinition[];
  readonly others: Definition[];
  readonly names: Map<string, { name: string; columns: Map<string, string> }>;
}

/** The pair of a seed. @throws if the recordings are missing */
export function corpusPair(seed: number): SchemaPair {
  objects ??= recorded();
  if (objects.length === 0) throw new Error('there are no recorded objects: CORPUS is missing');
  const random = randomness(seed ^ 0xc0ffee);
  const draft = draw(objects, random);
  const tables = [...draft.tables];
  const before = print(draft);
  const changes: string[] = [];
  const count = 1 + random.below(4);
  for (let tries = 0; changes.length < count && tries < 40; tries++) {
    const done = random.pick(MUTATIONS)(draft, random);
    if (done !== undefined) changes.push(done);
  }
  const renamed = [...draft.names].flatMap(([from, { name, columns }]) => [
    ...(name === from ? [] : [`'${from}'='${name}'`]),
    // A column may have been added before it was renamed.
    ...[...columns]
      .filter(([column]) => tables.some(table => table.name === from && findColumn(table, column)))
      .map(([column, to]) => `'${from}'.'${column}'='${to}'`),
  ]);
  return { before, after: print(draft), renamed, changes, tables, names: draft.names };
}

const print = ({ tables, others }: Draft): string[] =>
  [...tables, ...others].map(definition => printDefinition(definition, { quoted: true }));

/** Some objects with what they need, each name once. */
function draw(from: readonly Recorded[], random: Randomness): Draft {
  const [tables, others]: [TableDefinition[], Definition[]] = [[], []];
  for (let tries = 0; tries < 3 + random.below(3); tries++) {
    const { bases, object } = random.pick(from);
    const definitions = new Map([...tables, ...others].map(each => [foldCase(each.name), printDefinition(each)]));
    const isFree = (each: Definition) => !definitions.has(foldCase(each.name));
    const fits = bases.every(base => isFree(base) || definitions.get(foldCase(base.name)) === printDefinition(base));
    if (!fits || !isFree(object) || bases.some(base => foldCase(base.name) === foldCase(object.name))) continue;
    tables.push(...bases.filter(isFree));
    if (object.kind === 'table') tables.push(object);
    else others.push(object);
  }
  return { tables, others, names: new Map(tables.map(({ name }) => [name, { name, columns: new Map() }])) };
}

/** Whether a view may use a column of that name. */
const isUsed = ({ others }: Draft, { name }: Column): boolean =>
  others.some(each => 'body' in each && (each.body.includes('*') || foldCase(each.body).includes(foldCase(name))));

const isRead = ({ others }: Draft, { name }: TableDefinition): boolean =>
  others.some(
    each =>
      'body' in each &&
      (foldCase(each.body).includes(foldCase(name)) ||
        findReferences(printDefinition(each)).some(source => foldCase(source) === foldCase(name))),
  );

type Mutation = (draft: Draft, random: Randomness) => string | undefined;

const withTable =
  (
    change: (table: TableDefinition, draft: Draft, random: Randomness) => [string, TableDefinition] | undefined,
  ): Mutation =>
  (draft, random) => {
    const table = random.pick(draft.tables);
    const [what, changed] = (table && change(table, draft, random)) ?? [];
    if (what === undefined || !changed) return undefined;
    draft.tables[draft.tables.indexOf(table)] = changed;
    return `${table.name}: ${what}`;
  };

const withColumn = (
  table: TableDefinition,
  random: Randomness,
  change: (column: Column) => Column | undefined,
): TableDefinition | undefined => {
  const column = random.pick(table.columns.filter(({ name }) => name !== table.timestamp));
  const changed = column && change(column);
  return changed && { ...table, columns: table.columns.map(each => (each === column ? changed : each)) };
};

const WIDER: Record<string, string> = { BYTE: 'INT', SHORT: 'INT', INT: 'LONG', FLOAT: 'DOUBLE' };
const KEYS = ['SYMBOL', 'INT', 'LONG', 'SHORT', 'VARCHAR', 'UUID'];

const MUTATIONS: Mutation[] = [
  withTable((table, _, random) => {
    const name = random.pick(['added', 'select', 'With Blank', 'ünï']);
    if (table.columns.some(each => foldCase(each.name) === name)) return undefined;
    const type = random.pick('INT SYMBOL DOUBLE[] VARCHAR GEOHASH(5c) TIMESTAMP_NS IPv4 LONG256'.split(' '));
    return [
      `add ${name} ${type}`,
      { ...table, columns: [...table.columns, { name, type, cached: true, dedup: false }] },
    ];
  }),
  withTable((table, draft, random) => {
    const column = random.pick(
      table.columns.filter(
        each => each.name !== table.timestamp && !each.name.endsWith(' renamed') && !isUsed(draft, each),
      ),
    );
    if (!column || table.columns.length < 3) return undefined;
    return [`drop ${column.name}`, { ...table, columns: table.columns.filter(each => each !== column) }];
  }),
  withTable((table, draft, random) => {
    const known = draft.names.get(table.name);
    let done = '';
    const changed = withColumn(table, random, column => {
      const to = `${column.name} renamed`;
      if (
        isUsed(draft, column) ||
        !known ||
        column.name.includes("'") ||
        [...known.columns.values()].includes(column.name)
      )
        return undefined;
      known.columns.set(column.name, to);
      done = `rename ${column.name}`;
      return { ...column, name: to };
    });
    return changed && [done, changed];
  }),
  withTable((table, _, random) => {
    let done = '';
    const changed = withColumn(table, random, ({ name, type, dedup }) => {
      const to = WIDER[type];
      done = `${name} ${type} to ${to}`;
      return to === undefined ? undefined : { name, type: to, cached: true, dedup };
    });
    return changed && [done, changed];
  }),
  withTable((table, _, random) => {
    let done = '';
    const changed = withColumn(table, random, column => {
      if (column.type !== 'SYMBOL') return undefined;
      done = `options of ${column.name}`;
      const { index, ...rest } = column;
      if (random.chance(0.4)) return { ...column, cached: !column.cached };
      return index ? rest : { ...rest, index: { type: 'BITMAP', capacity: random.pick([64, 256, 1024]) } };
    });
    return changed && [done, changed];
  }),
  withTable((table, _, random) => {
    if (!table.wal || table.timestamp === undefined) return undefined;
    const isOff = random.chance(0.2);
    const columns = table.columns.map(each => ({
      ...each,
      dedup: !isOff && (each.name === table.timestamp || (KEYS.includes(each.type) && random.chance(0.3))),
    }));
    return ['dedup keys', { ...table, columns }];
  }),
  withTable((table, _, random) => {
    if (table.partitionBy === 'NONE') return undefined;
    return ['TTL', { ...table, ttl: random.pick([0, -12, -24, -120]) }];
  }),
  withTable((table, _, random) => {
    if (!table.wal || table.partitionBy === 'NONE') return undefined;
    return [
      'parameters',
      { ...table, ...(random.chance(0.5) ? { maxUncommittedRows: 1000 } : { o3MaxLag: 60_000_000 }) },
    ];
  }),
  withTable((table, draft) => {
    const known = draft.names.get(table.name);
    const to = `${table.name} renamed`;
    if (!known || isRead(draft, table) || table.name.length > 100) return undefined;
    known.name = to;
    return ['rename', { ...table, name: to }];
  }),
  (draft, random) => {
    const table = random.pick(draft.tables);
    if (!table || draft.tables.length < 2 || isRead(draft, table)) return undefined;
    draft.tables.splice(draft.tables.indexOf(table), 1);
    for (const [name, known] of draft.names) if (known.name === table.name) draft.names.delete(name);
    return `drop ${table.name}`;
  },
  (draft, random) => {
    const view = random.pick(draft.others);
    if (!view) return undefined;
    const at = draft.others.indexOf(view);
    if (random.chance(0.3)) draft.others.splice(at, 1);
    else if (view.kind === 'materialized view')
      draft.others[at] = random.chance(0.5)
        ? { ...view, ttl: random.pick([0, -12, -120]) }
        : { ...view, refresh: { type: random.pick(['MANUAL', 'IMMEDIATE']), deferred: view.refresh.deferred } };
    else {
      const [source] = draft.tables;
      if (!source || view.kind !== 'view') return undefined;
      draft.others[at] = { ...view, body: `select * from '${source.name}'` };
    }
    return `${view.kind} ${view.name}`;
  },
  (draft, random) => {
    const source = random.pick(draft.tables);
    if (!source || draft.others.some(({ name }) => name === 'new view')) return undefined;
    draft.others.push({ kind: 'view', name: 'new view', body: `select * from '${source.name}'` });
    return `new view of ${source.name}`;
  },
];
