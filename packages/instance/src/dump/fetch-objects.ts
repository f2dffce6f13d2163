import { foldCase, type KindAndName, NameMap, NameSet, OBJECT_KINDS, quoteLiteral, tableTypeOf } from '@sqlpipe/sql';
import type { Client } from '../http/client.js';
import { type BestEffortClient, queryIfAccepted, tryIfSupported, tryQuery } from '../http/optional-queries.js';
import { InstanceError } from '../instance-error.js';
import { VIEW_LISTS } from '../reports/health.js';

const KIND_BY_VALUE = new Map<string, KindAndName['kind']>([
  ...OBJECT_KINDS.map(kind => [tableTypeOf(kind), kind] as const),
  ['true', 'materialized view'],
  ['false', 'table'],
]);

export interface ListedObject extends KindAndName {
  /** The server's id of the object. A recreated object has another id. Servers before 9.0 have no ids. */
  id?: unknown;
  /** What a newer server calls a kind that is unknown here. */
  unknownKind?: string;
}

/** All objects, in any order. */
export const fetchAllObjects = (client: Client): Promise<ListedObject[]> => fetchObjects(client, '');

async function fetchObjects(client: Client, condition: string): Promise<ListedObject[]> {
  const listed = await tryQuery(fetchListed(client, condition), ({ code }) => code === 'REJECTED');
  return listed ?? fetchObjectsByKind(client); // a view named `tables` shadows the function (observed on 9.3.4)
}

/** @throws InstanceError if the server rejects the list for another reason than an unknown column: `matView` calls a plain view a table */
async function fetchListed(client: Client, condition: string): Promise<ListedObject[] | undefined> {
  // The columns that show kinds: `table_type` since 9.3, `matView` since 9.0 (observed on 9.0.3 to 9.3.4).
  for (const column of ['table_type', 'matView']) {
    const query = `SELECT table_name, ${column}, id FROM tables()${condition}`;
    const rows = await tryIfSupported(client.queryRows(query));
    if (rows?.some(([name, kind]) => typeof name !== 'string' || kind === undefined))
      throw new InstanceError(
        'PROTOCOL',
        `${client.label}: tables() has other columns than requested; does a proxy change the replies?`,
      );
    const listed = rows?.map(([name, cell, id]): ListedObject => {
      const kind = KIND_BY_VALUE.get(String(cell));
      return { name: String(name), kind: kind ?? 'other', id, ...(!kind && { unknownKind: String(cell) }) };
    });
    if (listed) return listed;
  }
  return undefined;
}

/**
 * The last transaction of each object with a log, by name: WAL tables, and since 9.3 also views. While the transaction is the same, the
 * definition is the same. Objects with changes that are not applied yet are left out.
 */
export async function fetchLastTransactions(bestEffort: BestEffortClient): Promise<Map<string, unknown>> {
  // Each ALTER, like each insert, adds a transaction (observed on 9.0.3 to 9.3.4).
  const rows = await bestEffort.queryRows('SELECT name, sequencerTxn FROM wal_tables() WHERE writerTxn = sequencerTxn');
  return new Map(rows?.map(([name, transaction]) => [String(name), transaction]));
}

/** The ids of a few objects, by name, see `ListedObject`. Empty if the server shows none. */
export async function fetchIds(client: Client, names: readonly string[]): Promise<NameMap<unknown>> {
  const rows = await queryIfAccepted(client, `SELECT table_name, id FROM tables() WHERE ${nameCondition(names)}`);
  return new NameMap((rows ?? []).map(([name, id]) => [String(name), id]));
}

export async function fetchViewNames(client: Client, names: readonly string[]): Promise<NameSet> {
  const listed = await fetchObjects(client, ` WHERE ${nameCondition(names)}`);
  return new NameSet(listed.flatMap(({ kind, name }) => (kind === 'table' ? [] : name)));
}

const nameCondition = (names: readonly string[]): string =>
  `lower(table_name) IN (${names.map(foldCase).map(quoteLiteral).join(', ')})`;

/** A server without a function that lists a kind has no objects of this kind. */
async function fetchObjectsByKind(client: Client): Promise<KindAndName[]> {
  const names = async (query: string) => (await client.queryRows(query)).map(([name]) => String(name));
  const namesIn = async (list: string) => new Set(await tryIfSupported(names(`SELECT view_name FROM ${list}`)));
  const kinds = new Map<string, KindAndName['kind']>();
  for (const [kind, list] of VIEW_LISTS) for (const name of await namesIn(list)) kinds.set(name, kind);
  return (await names('SHOW TABLES')).map(name => ({ name, kind: kinds.get(name) ?? 'table' }));
}
