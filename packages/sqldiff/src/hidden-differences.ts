/*!
 * Same text, different meaning: server settings that apply where statements say nothing, and properties of objects
 * that no dump contains. Queried as far as both servers show them (their names observed on 9.3.4).
 */

import { BestEffortClient, type ConnectionConfig } from '@sqlpipe/instance';
import type { Difference } from '@sqlpipe/schema';
import { displayName, foldCase, type Identity, identify, type Kind, quoteLiteral } from '@sqlpipe/sql';
import type { Sides } from './operands.js';

/** What a catalogue says: by property, and of each by object; a setting of the server is of none, ''. */
type Facts = Map<string, Map<string, string>>;

/** Whether symbol capacities are the server's to change; then they mean nothing. */
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
 * Queries for lists of objects: each row is a name and the properties that are named beside the query; of objects of
 * one kind alone where the others' are of no use and differ from version to version.
 */
const LISTS: [query: string, properties: string[], of?: Kind][] = [
  ['SELECT table_name, maxUncommittedRows, o3MaxLag FROM tables()', ['maxUncommittedRows', 'o3MaxLag'], 'table'],
  ['SELECT table_name, table_suspended FROM tables()', ['suspended']],
  ["SELECT view_name, view_status = 'invalid' FROM views()", ['invalid']],
  [
    "SELECT view_name, view_status = 'invalid', concat(refresh_limit, ' ', refresh_limit_unit) FROM materialized_views()",
    ['invalid', 'the refresh limit'],
  ],
];

/** Maximum number of objects per request for columns: it has to fit, with names of any length. */
const MAX_PER_REQUEST = 20;

/** Objects that are named in a warning; of the others, how many. */
const MAX_LISTED = 3;

/** The objects of A that are the same in B. */
export function selectUnchanged(a: string[], differences: Difference[]): Identity[] {
  const different = new Set(differences.map(each => each.a));
  return a.filter(statement => !different.has(statement)).map(identify);
}

/**
 * Sentences on what two instances make of the same statements; none where either side is no instance.
 * Never fails: what an instance does not tell is not compared.
 * @param same the objects that are the same on both
 */
export async function findHiddenDifferences([a, b]: Sides, same: Identity[]): Promise<string[]> {
  if (!a.target || !b.target) return [];
  const [inA, inB] = [await fetchFacts(a.target, same), await fetchFacts(b.target, same)];
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
  const more = objects.length > MAX_LISTED ? ` and ${objects.length - MAX_LISTED} more` : '';
  return `same text, different meaning: ${objects.slice(0, MAX_LISTED).join(', ')}${more}: ${values}`;
}

async function fetchFacts(target: ConnectionConfig, same: Identity[]): Promise<Facts> {
  const client = new BestEffortClient(target);
  const facts: Facts = new Map();
  const add = (property: string, object: string, value: unknown): void => {
    facts.set(property, (facts.get(property) ?? new Map()).set(object, String(value).trim()));
  };
  try {
    for (const [path, value] of (await client.table('SELECT property_path, value FROM (SHOW PARAMETERS)')) ?? [])
      if (SETTINGS.includes(String(path))) add(String(path), '', value);
    await addProperties(client, same, add);
    const scaled = facts.get(AUTO_SCALE)?.get('') !== 'false';
    await addColumns(
      client,
      same.filter(({ kind }) => kind === 'matview' || (kind === 'table' && !scaled)),
      scaled,
      add,
    );
  } finally {
    await client.close();
  }
  return facts;
}

type Add = (property: string, object: string, value: unknown) => void;

async function addProperties(client: BestEffortClient, same: Identity[], add: Add): Promise<void> {
  const byName = new Map(same.map(identity => [foldCase(identity.name), identity]));
  for (const [query, properties, kind] of LISTS)
    for (const [name, ...values] of (await client.table(query)) ?? []) {
      const object = byName.get(foldCase(String(name)));
      if (object && object.kind === (kind ?? object.kind))
        properties.forEach((property, i) => void add(property, displayName(object), values[i]));
    }
}

/** What CREATE MATERIALIZED VIEW says of columns and is not printed, and symbol capacities where they do not change by themselves. */
async function addColumns(client: BestEffortClient, objects: Identity[], scaled: boolean, add: Add): Promise<void> {
  for (let at = 0; at < objects.length; at += MAX_PER_REQUEST) {
    const some = objects.slice(at, at + MAX_PER_REQUEST);
    const query = some.map(
      ({ name }, i) =>
        `SELECT ${i}, "column", indexed, designated, symbolCapacity FROM table_columns(${quoteLiteral(name)})`,
    );
    for (const [i, column, indexed, designated, capacity] of (await client.table(query.join(' UNION ALL '))) ?? []) {
      const object = `column ${column} of ${displayName(some[Number(i)] as Identity)}`;
      add('INDEX', object, indexed);
      add('TIMESTAMP', object, designated);
      if (!scaled) add('the symbol capacity', object, capacity);
    }
  }
}
