/*!
 * The dump of a server without SHOW CREATE DATABASE (QuestDB before 10): its objects, fetched object by object and
 * sorted in the order of that statement. The catalogue is not a snapshot, so objects are listed again at the end, and
 * what may have changed is read again, until nothing has changed.
 */

import { isSystemTable } from '@sqlpipe/ddl';
import { dumpOrder, Schema } from '@sqlpipe/schema';
import { isObject, type Kind } from '@sqlpipe/sql';
import type { BestEffortClient } from './best-effort-client.js';
import { fetchUncheckedDefinitions } from './definitions.js';
import type { Instance } from './instance.js';
import { InstanceError } from './instance-error.js';
import { fetchVersions, type ListedObject, listAllObjects } from './objects.js';

/** Maximum number of readings of a schema that keeps changing. */
const MAX_READS = 6;

/**
 * The rows that SHOW CREATE DATABASE would return.
 * @param client for the queries that save time and are not necessary
 * @throws InstanceError; with code UNREACHABLE if the schema keeps changing while it is read
 */
export async function fetchObjectRows(
  source: Instance,
  client: BestEffortClient,
  selects: (kind: Kind) => boolean,
): Promise<string[]> {
  let previous = new Map<string, ReadObject>();
  for (let reading = 1; reading <= MAX_READS; reading++) {
    const objects = await readObjects(source, client, selects, previous);
    const isSame = ({ name, definition }: ReadObject) => previous.get(name)?.definition === definition;
    if (objects.length === previous.size && objects.every(isSame))
      return dumpOrder(new Schema(objects.map(({ definition }) => definition))).map(({ statement }) => statement);
    previous = new Map(objects.map(object => [object.name, object]));
  }
  throw new InstanceError(
    'UNREACHABLE',
    `${source.label}: the schema keeps changing while it is read; try again when nothing changes it`,
  );
}

/** An object as it was when it was read. */
interface ReadObject extends ListedObject {
  version: unknown;
  definition: string;
}

/** Lists the objects, and reads those that are not certainly the same as before. */
async function readObjects(
  source: Instance,
  client: BestEffortClient,
  selects: (kind: Kind) => boolean,
  previous: ReadonlyMap<string, ReadObject>,
): Promise<ReadObject[]> {
  const [listed, versions] = await Promise.all([listObjects(source, selects), fetchVersions(client)]);
  // Without an id, a table that was created again could have the version of the one before.
  const versionOf = ({ id, name }: ListedObject) => (id === undefined ? undefined : versions.get(name));
  const objects = listed.map(object => ({ ...object, version: versionOf(object) }));
  const definitionOf = ({ name, id, version }: Omit<ReadObject, 'definition'>): string | undefined => {
    const before = previous.get(name);
    return version !== undefined && before?.version === version && before.id === id ? before.definition : undefined;
  };
  const definitions = new Map(objects.map(object => [object.name, definitionOf(object)]));
  const stale = objects.filter(({ name }) => definitions.get(name) === undefined);
  for (const [i, definition] of (await fetchUncheckedDefinitions(source, stale)).entries())
    definitions.set((stale[i] as ListedObject).name, definition);
  return objects.flatMap(object => {
    const definition = definitions.get(object.name);
    return definition === undefined ? [] : [{ ...object, definition }]; // it was dropped since it was listed
  });
}

/** The objects that the dump contains: those selected, without system tables. */
async function listObjects(source: Instance, selects: (kind: Kind) => boolean): Promise<ListedObject[]> {
  return (await listAllObjects(source)).filter(
    ({ name, kind }) => isObject(kind) && selects(kind) && !isSystemTable(name),
  );
}
