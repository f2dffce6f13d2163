/*!
 * Dumps a server without SHOW CREATE DATABASE (before QuestDB 10). The catalogue is not a snapshot. So objects that may have changed are
 * read again, until nothing has changed. If objects come and go all the time, the dump has those that are in both of the last two lists.
 */
import { dumpOrder, Schema } from '@sqlpipe/schema';
import type { Client } from '../http/client.js';
import type { BestEffortClient } from '../http/optional-queries.js';
import { fetchAllObjects, fetchLastTransactions, type ListedObject } from './fetch-objects.js';
import { fetchUncheckedStatements } from './fetch-statements.js';
import { changingSchemaError, isWanted, type ObjectReadOptions, titleOf } from './unreadable-objects.js';

/** The rows that SHOW CREATE DATABASE would return. @param bestEffort for queries that only save time */
export async function fetchCatalogueDump(client: Client, bestEffort: BestEffortClient, options: ObjectReadOptions) {
  const denied = new Map<string, string>();
  const read = (previous: Reading) => readObjects(client, bestEffort, options, previous, denied);
  let [previous, latest] = [NOTHING_READ, await read(NOTHING_READ)];
  for (let readings = 1; readings < 6 && !isSame(previous, latest); readings++)
    [previous, latest] = [latest, await read(latest)];
  const stableObjects = [...latest.objects.values()].filter(({ name }) => previous.objects.has(name));
  if (stableObjects.some(({ name, statement }) => previous.objects.get(name)?.statement !== statement))
    throw changingSchemaError(client);
  const reportChange = (object: ListedObject, change: string) =>
    options.info(`${titleOf(object)} was ${change} while the schema was read, and is not in the dump`);
  for (const object of latest.objects.values()) if (!previous.objects.has(object.name)) reportChange(object, 'created');
  for (const object of previous.objects.values())
    if (!latest.objects.has(object.name)) reportChange(object, 'dropped or renamed');
  for (const object of latest.listed) {
    const denial = denied.get(object.name);
    if (denial !== undefined) options.unreadable.addDenied(object, denial);
    else if (object.kind === 'other') options.unreadable.addUnknown(object);
  }
  return dumpOrder(new Schema(stableObjects.map(({ statement }) => statement))).map(({ statement }) => statement);
}

interface ReadObject extends ListedObject {
  transaction: unknown;
  statement: string;
}

interface Reading {
  readonly listed: readonly ListedObject[];
  readonly objects: ReadonlyMap<string, ReadObject>;
}

const NOTHING_READ: Reading = { listed: [], objects: new Map() };

const isSame = ({ objects: previous }: Reading, { objects: latest }: Reading): boolean =>
  previous.size === latest.size &&
  [...latest.values()].every(({ name, statement }) => previous.get(name)?.statement === statement);

/** Reads objects that may have changed. @param denied receives the server's messages for denied objects, which are not read again */
async function readObjects(
  client: Client,
  bestEffort: BestEffortClient,
  { selects, names }: ObjectReadOptions,
  previous: Reading,
  denied: Map<string, string>,
): Promise<Reading> {
  const [all, transactions] = await Promise.all([fetchAllObjects(client), fetchLastTransactions(bestEffort)]);
  // All views are read, because the order of two objects can depend on a view between them.
  const wanted = all.filter(object => isWanted(object, selects));
  const selected = new Set(names.selectListed(wanted));
  const listed = wanted.filter(object => selected.has(object) || object.kind !== 'table');
  const objects = new Map<string, ReadObject>();
  const stale: Omit<ReadObject, 'statement'>[] = [];
  for (const object of listed) {
    const { kind, name, id } = object;
    if (kind === 'other' || denied.has(name)) continue;
    const former = previous.objects.get(name);
    // Without an id, a recreated table could have the same last transaction as the former table.
    const transaction = id === undefined ? undefined : transactions.get(name);
    const isCurrent = transaction !== undefined && former?.transaction === transaction && former.id === id;
    if (isCurrent) objects.set(name, former);
    else stale.push({ ...object, transaction });
  }
  const read = await fetchUncheckedStatements(client, stale, ({ name }, message) => void denied.set(name, message));
  for (const [i, object] of stale.entries()) {
    const statement = read[i];
    if (statement !== undefined) objects.set(object.name, { ...object, statement }); // else the object is gone or denied
  }
  return { listed, objects };
}
