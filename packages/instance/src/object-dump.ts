/*!
 * The dump of a server without SHOW CREATE DATABASE (QuestDB before 10): its objects, fetched object by object and
 * sorted in the order of that statement. The catalogue is not a snapshot, so it is read until two readings are equal.
 */

import { isSystemTable } from '@sqlpipe/ddl';
import { Catalog, dumpOrder } from '@sqlpipe/schema';
import { isObject, type Kind } from '@sqlpipe/sql';
import { fetchUncheckedDefinitions } from './definitions.js';
import type { Instance } from './instance.js';
import { InstanceError } from './instance-error.js';
import { listAllObjects, type ObjectName } from './objects.js';

/** Maximum number of readings of a schema that keeps changing. */
const MAX_READS = 6;

/**
 * The rows that SHOW CREATE DATABASE would return.
 * @throws InstanceError; with code UNREACHABLE if the schema keeps changing while it is read
 */
export async function fetchObjectRows(source: Instance, selects: (kind: Kind) => boolean): Promise<string[]> {
  let rows = await readRows(source, selects);
  for (let reading = 2; ; reading++) {
    const again = await readRows(source, selects);
    if (again.length === rows.length && again.every((row, i) => row === rows[i])) break;
    if (reading === MAX_READS)
      throw new InstanceError(
        'UNREACHABLE',
        `${source.label}: the schema keeps changing while it is read; try again when nothing changes it`,
      );
    rows = again;
  }
  return dumpOrder(new Catalog(rows)).map(({ statement }) => statement);
}

/** All definitions. An object that was dropped since it was listed has none; then the next reading differs. */
async function readRows(source: Instance, selects: (kind: Kind) => boolean): Promise<string[]> {
  const rows = await fetchUncheckedDefinitions(source, await listObjects(source, selects));
  return rows.filter(row => row !== undefined);
}

/** The objects that the dump contains: those selected, without system tables. */
async function listObjects(source: Instance, selects: (kind: Kind) => boolean): Promise<ObjectName[]> {
  return (await listAllObjects(source)).filter(
    ({ name, kind }) => isObject(kind) && selects(kind) && !isSystemTable(name),
  );
}
