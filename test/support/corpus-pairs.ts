/*! Schemas of recorded objects, where the recordings are, and what somebody may have made of each. Always the same for a seed. */
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
import { changesOf } from './changes.js';
import { readCorpus } from './corpus.js';
import { type Randomness, randomness, type SchemaPair } from './schema-pairs.js';

/** An object that a server has made and printed, with the tables that it needs. */
interface Recorded {
  readonly bases: readonly TableDefinition[];
  readonly object: Definition;
}

const isTable = (definition: Definition | undefined): definition is TableDefinition =>
  definition?.kind === 'table' && definition.query === undefined && definition.like === undefined;

/** Those that come back the same, so that only changes are different. */
function recorded(): Recorded[] {
  const tables = readCorpus('tables').filter(({ setup }) => setup.length === 0);
  const views = readCorpus('views').filter(({ base_ddl = [] }) => base_ddl.length > 0);
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

/** Properties that 9.3.4 does not have or does not show, and those that other changes here are about. */
const LEFT_OUT =
  /^(?:name|query|owner|base|volume|format|storage policy|dedup keys|WAL|designated timestamp|indexes)$|(?: name| Parquet settings)$/;

/** Another value of one property, not of a column that a view uses or that was renamed. */
const changeProperty: Mutation = (draft, random) => {
  const list: Definition[] = random.pick([draft.tables, draft.others]);
  const object = random.pick(list);
  if (!object) return undefined;
  const fixed = isTable(object)
    ? object.columns.filter(each => isUsed(draft, each) || each.name.endsWith(' renamed'))
    : [];
  const possible = changesOf(object).filter(
    ({ property }) => !LEFT_OUT.test(property) && !fixed.some(({ name }) => property.startsWith(`column '${name}'`)),
  );
  const change = random.pick(possible);
  const printed = change ? printDefinition(change.changed, { quoted: true }) : '';
  if (!change || printed.includes(' POSTING') || !tryParseDefinition(printed)) return undefined;
  list[list.indexOf(object)] = change.changed;
  return `${object.name}: ${change.property}`;
};

const MUTATIONS: Mutation[] = [
  ...Array.from({ length: 6 }, () => changeProperty),
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
    if (!table.wal || table.timestamp === undefined) return undefined;
    const isOff = random.chance(0.2);
    const columns = table.columns.map(each => ({
      ...each,
      dedup: !isOff && (each.name === table.timestamp || (KEYS.includes(each.type) && random.chance(0.3))),
    }));
    return ['dedup keys', { ...table, columns }];
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
    const source = random.pick(draft.tables);
    if (!source || draft.others.some(({ name }) => name === 'new view')) return undefined;
    draft.others.push({ kind: 'view', name: 'new view', body: `select * from '${source.name}'` });
    return `new view of ${source.name}`;
  },
];
