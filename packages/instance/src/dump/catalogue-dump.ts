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

const MAX_READS = 6;

/** The rows that SHOW CREATE DATABASE would return. @param bestEffort for queries that only save time */
export async function fetchCatalogueDump(
  client: Client,
  bestEffort: BestEffortClient,
  options: ObjectReadOptions,
): Promise<string[]> {
  const denied = new Map<string, string>();
  let [previous, latest] = [NOTHING_READ, await readObjects(client, bestEffort, options, NOTHING_READ, denied)];
  for (let reading = 2; reading <= MAX_READS && !isSame(previous, latest); reading++)
    [previous, latest] = [latest, await readObjects(client, bestEffort, options, latest, denied)];
  if (findChanged(previous, latest).length) throw changingSchemaError(client);
  reportChanges(previous, latest, options);
  for (const object of latest.listed) {
    const denial = denied.get(object.name);
    if (denial !== undefined) options.unreadable.addDenied(object, denial);
    else if (object.kind === 'other') options.unreadable.addUnknown(object);
  }
  const stableObjects = [...latest.objects.values()].filter(({ name }) => previous.objects.has(name));
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

const findChanged = (previous: Reading, latest: Reading): ReadObject[] =>
  [...latest.objects.values()].filter(({ name, statement }) => {
    const other = previous.objects.get(name);
    return other && other.statement !== statement;
  });

const isSame = (previous: Reading, latest: Reading): boolean =>
  previous.objects.size === latest.objects.size &&
  [...latest.objects.keys()].every(name => previous.objects.has(name)) &&
  !findChanged(previous, latest).length;

function reportChanges(previous: Reading, latest: Reading, { info }: ObjectReadOptions): void {
  const reportChange = (object: ListedObject, change: string) =>
    info(`${titleOf(object)} was ${change} while the schema was read, and is not in the dump`);
  for (const object of latest.objects.values()) if (!previous.objects.has(object.name)) reportChange(object, 'created');
  for (const object of previous.objects.values())
    if (!latest.objects.has(object.name)) reportChange(object, 'dropped or renamed');
}

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
  // Without an id, a recreated table could have the same last transaction as the former table.
  const transactionOf = ({ id, name }: ListedObject) => (id === undefined ? undefined : transactions.get(name));
  const objects = listed
    .filter(({ kind, name }) => kind !== 'other' && !denied.has(name))
    .map(object => ({ ...object, transaction: transactionOf(object) }));
  const statementOf = ({ name, id, transaction }: Omit<ReadObject, 'statement'>): string | undefined => {
    const former = previous.objects.get(name);
    return transaction !== undefined && former?.transaction === transaction && former.id === id
      ? former.statement
      : undefined;
  };
  const statements = new Map(objects.map(object => [object.name, statementOf(object)]));
  const stale = objects.filter(({ name }) => statements.get(name) === undefined);
  const read = await fetchUncheckedStatements(client, stale, ({ name }, message) => void denied.set(name, message));
  for (const [i, { name }] of stale.entries()) statements.set(name, read[i]);
  const found = objects.flatMap((object): [string, ReadObject][] => {
    const statement = statements.get(object.name);
    return statement === undefined ? [] : [[object.name, { ...object, statement }]]; // without a statement, the object is gone or denied
  });
  return { listed, objects: new Map(found) };
}
