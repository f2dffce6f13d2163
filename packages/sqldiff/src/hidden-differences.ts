/*!
 * What gives the same text another meaning: server settings for what a statement omits, and properties of objects that no dump contains.
 * They are compared if both servers show them (names observed on 9.3.4).
 */
import { BestEffortClient, batchesOf, type ConnectionConfig, fetchParameters } from '@sqlpipe/instance';
import type { SchemaComparison } from '@sqlpipe/schema';
import { displayName, type Identity, identify, type Kind, NameMap, quoteLiteral } from '@sqlpipe/sql';
import { listFirst } from '@sqlpipe/text';
import type { ReadSides } from './sides.js';

/** By property, then by object. The object of a server setting is ''. */
type Facts = Map<string, Map<string, string>>;

/** Whether the server changes symbol capacities by itself. Then they are not compared. */
const AUTO_SCALE = 'cairo.auto.scale.symbol.capacity';

const SETTINGS = [
  'cairo.wal.enabled.default',
  'cairo.default.symbol.capacity',
  'cairo.default.symbol.cache.flag',
  AUTO_SCALE,
  'cairo.max.uncommitted.rows',
  'cairo.o3.max.lag',
  'cairo.sql.sampleby.default.alignment.calendar',
  'cairo.ttl.use.wall.clock',
  'cairo.volumes',
];

/**
 * The rows are the name of an object and the properties. `of` is the only kind to compare, if the properties have no use for other kinds
 * and differ between versions.
 */
const LISTS: [query: string, properties: string[], of?: Kind][] = [
  ['SELECT table_name, maxUncommittedRows, o3MaxLag FROM tables()', ['maxUncommittedRows', 'o3MaxLag'], 'table'],
  ["SELECT view_name, concat(refresh_limit, ' ', refresh_limit_unit) FROM materialized_views()", ['the refresh limit']],
];

/** The maximum number of objects per request for columns, so that the request is short enough with names of any length. */
const BATCH_SIZE = 20;

const MAX_LISTED = 3;

/**
 * Warnings about statements that are the same on two instances and mean different things there; none if one side is not an instance. Never
 * fails: a property that an instance does not show is not compared.
 */
export async function findHiddenDifferences(
  [a, b]: ReadSides,
  { differences, ignored }: Pick<SchemaComparison, 'differences' | 'ignored'>,
): Promise<string[]> {
  if (!a.config || !b.config) return [];
  const different = new Set([...differences, ...ignored].map(each => each.a));
  const same = a.statements.filter(statement => !different.has(statement)).map(identify);
  const [inA, inB] = [await fetchFacts(a.config, same), await fetchFacts(b.config, same)];
  return [...inA].flatMap(([property, byObject]) => {
    const groups = new Map<string, string[]>();
    for (const [object, value] of byObject) {
      const other = inB.get(property)?.get(object);
      if (other === undefined || other === value) continue;
      const values = `${property} is ${value} in ${a.label} and ${other} in ${b.label}`;
      const group = groups.get(values);
      if (group) group.push(object);
      else groups.set(values, [object]);
    }
    return Array.from(groups, ([values, objects]) => formatHiddenDifference(values, objects));
  });
}

function formatHiddenDifference(values: string, objects: string[]): string {
  if (objects[0] === '') return `the same text may mean something else: ${values}`;
  return `same text, different meaning: ${listFirst(objects, MAX_LISTED)}: ${values}`;
}

async function fetchFacts(config: ConnectionConfig, same: Identity[]): Promise<Facts> {
  const bestEffort = new BestEffortClient(config);
  const facts: Facts = new Map();
  const add = (property: string, object: string, value: unknown): void => {
    facts.set(property, (facts.get(property) ?? new Map()).set(object, String(value).trim()));
  };
  try {
    for (const [path, value] of (await bestEffort.attempt(fetchParameters)) ?? [])
      if (SETTINGS.includes(path)) add(path, '', value);
    await addProperties(bestEffort, same, add);
    const isAutoScaled = facts.get(AUTO_SCALE)?.get('') !== 'false';
    await addColumns(
      bestEffort,
      same.filter(({ kind }) => kind === 'materialized view' || (kind === 'table' && !isAutoScaled)),
      isAutoScaled,
      add,
    );
  } finally {
    await bestEffort.close();
  }
  return facts;
}

type Add = (property: string, object: string, value: unknown) => void;

async function addProperties(bestEffort: BestEffortClient, same: Identity[], add: Add): Promise<void> {
  const byName = new NameMap(same.map(identity => [identity.name, identity]));
  for (const [query, properties, kind] of LISTS)
    for (const [name, ...values] of (await bestEffort.queryRows(query)) ?? []) {
      const object = byName.get(String(name));
      if (object && object.kind === (kind ?? object.kind))
        properties.forEach((property, i) => void add(property, displayName(object), values[i]));
    }
}

/** What CREATE MATERIALIZED VIEW sets of columns and servers do not print, and symbol capacities unless the server changes them. */
async function addColumns(bestEffort: BestEffortClient, objects: Identity[], isAutoScaled: boolean, add: Add) {
  for (const batch of batchesOf(objects, BATCH_SIZE)) {
    const query = batch.map(
      ({ name }, i) =>
        `SELECT ${i}, "column", indexed, designated, symbolCapacity FROM table_columns(${quoteLiteral(name)})`,
    );
    const rows = (await bestEffort.queryRows(query.join(' UNION ALL '))) ?? [];
    for (const [i, column, indexed, designated, capacity] of rows) {
      const object = `column ${column} of ${displayName(batch[Number(i)] as Identity)}`;
      add('INDEX', object, indexed);
      add('TIMESTAMP', object, designated);
      if (!isAutoScaled) add('the symbol capacity', object, capacity);
    }
  }
}
