/*!
 * Two servers can understand the same text differently. The reasons are server settings for omitted clauses, and properties of objects
 * that no dump contains (names observed on 9.3.4). They are compared if both servers show them.
 */
import { addToList, displayName, identify, type Kind, type KindAndName, NameMap, quoteLiteral } from '@sqlpipe/sql';
import { formatFirst } from '@sqlpipe/text';
import type { ConnectionConfig } from '../configuration/connection-config.js';
import { BestEffortClient } from '../http/optional-queries.js';
import { batchesOf } from '../http/request.js';
import { fetchParameters } from './instance-facts.js';

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
 * The rows are the name of an object and the properties. `kind` is the only one to compare, if the properties have no use for other kinds
 * and differ between versions.
 */
const LISTS: [query: string, properties: string[], kind?: Kind][] = [
  ['SELECT table_name, maxUncommittedRows, o3MaxLag FROM tables()', ['maxUncommittedRows', 'o3MaxLag'], 'table'],
  ["SELECT view_name, concat(refresh_limit, ' ', refresh_limit_unit) FROM materialized_views()", ['the refresh limit']],
];

/** The maximum number of objects per request for columns, so that the request is short enough with names of any length. */
const BATCH_SIZE = 20;

interface Side {
  readonly label: string;
  readonly config?: ConnectionConfig | undefined;
}

/**
 * Describes what statements mean differently on two instances, although they are the same; nothing if one side is not an instance. Never
 * fails: a property that an instance does not show is not compared.
 */
export async function fetchHiddenDifferences(a: Side, b: Side, statements: readonly string[]): Promise<string[]> {
  if (!a.config || !b.config) return [];
  const same = statements.map(identify);
  const [inA, inB] = [await fetchHiddenProperties(a.config, same), await fetchHiddenProperties(b.config, same)];
  const groups = new Map<string, string[]>();
  for (const [key, value] of inA) {
    const other = inB.get(key);
    if (other === undefined || other === value) continue;
    const [property, object = ''] = key.split('\0');
    addToList(groups, `${property} is ${value} in ${a.label} and ${other} in ${b.label}`, object);
  }
  return Array.from(groups, ([values, objects]) =>
    objects[0] === ''
      ? `the same text may mean something else: ${values}`
      : `same text, different meaning: ${formatFirst(objects, 3)}: ${values}`,
  );
}

/** The values of properties by property, NUL and object, which is empty for a server setting. Never fails because of the instance. */
async function fetchHiddenProperties(config: ConnectionConfig, objects: readonly KindAndName[]) {
  const bestEffort = new BestEffortClient(config);
  const found = new Map<string, string>();
  try {
    for await (const [property, object, value] of fetchProperties(bestEffort, objects))
      found.set(`${property}\0${object}`, String(value).trim());
  } finally {
    await bestEffort.close();
  }
  return found;
}

async function* fetchProperties(
  bestEffort: BestEffortClient,
  objects: readonly KindAndName[],
): AsyncGenerator<[property: string, object: string, value: unknown]> {
  const parameters = (await bestEffort.attempt(fetchParameters)) ?? new Map<string, string>();
  for (const [path, value] of parameters) if (SETTINGS.includes(path)) yield [path, '', value];
  const objectsByName = new NameMap(objects.map(identity => [identity.name, identity]));
  for (const [query, properties, kind] of LISTS)
    for (const [name, ...values] of (await bestEffort.queryRows(query)) ?? []) {
      const object = objectsByName.get(String(name));
      if (object && object.kind === (kind ?? object.kind))
        for (const [i, property] of properties.entries()) yield [property, displayName(object), values[i]];
    }
  const isAutoScaled = parameters.get(AUTO_SCALE) !== 'false';
  // What CREATE MATERIALIZED VIEW sets of columns and servers do not print, and symbol capacities unless the server changes them
  const objectsWithColumns = objects.filter(
    ({ kind }) => kind === 'materialized view' || (kind === 'table' && !isAutoScaled),
  );
  for (const batch of batchesOf(objectsWithColumns, BATCH_SIZE)) {
    const query = batch.map(
      ({ name }, i) =>
        `SELECT ${i}, "column", indexed, designated, symbolCapacity FROM table_columns(${quoteLiteral(name)})`,
    );
    const rows = (await bestEffort.queryRows(query.join(' UNION ALL '))) ?? [];
    for (const [i, column, indexed, designated, capacity] of rows) {
      const object = `column ${column} of ${displayName(batch[Number(i)] as KindAndName)}`;
      yield ['INDEX', object, indexed];
      yield ['TIMESTAMP', object, designated];
      if (!isAutoScaled) yield ['the symbol capacity', object, capacity];
    }
  }
}
