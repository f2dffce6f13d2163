/*!
 * The dump of a server that has no SHOW CREATE DATABASE (QuestDB before 10): its objects one by one, put in the order
 * that the statement would give. The catalogue is no snapshot, so it is read until two readings agree.
 */

import { isSystemTable } from '@sqlpipe/ddl';
import { Catalog, dumpOrder } from '@sqlpipe/schema';
import { isObject, type Kind } from '@sqlpipe/sql';
import { fetchUncheckedDefinitions } from './definitions.js';
import type { Instance } from './instance.js';
import { InstanceError } from './instance-error.js';
import { listAllObjects, type ObjectName } from './objects.js';

/** How often the schema is read before one that keeps changing is given up. */
const MAX_READS = 6;

/**
 * The rows that SHOW CREATE DATABASE would give.
 * @throws InstanceError, and with code UNREACHABLE where the schema keeps changing while it is read
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

/** All definitions. An object dropped since it was listed has none; the next reading will tell. */
async function readRows(source: Instance, selects: (kind: Kind) => boolean): Promise<string[]> {
  const rows = await fetchUncheckedDefinitions(source, await listObjects(source, selects));
  return rows.filter(row => row !== undefined);
}

/** The objects that the dump has: selected, and no system tables. */
async function listObjects(source: Instance, selects: (kind: Kind) => boolean): Promise<ObjectName[]> {
  return (await listAllObjects(source)).filter(
    ({ name, kind }) => isObject(kind) && selects(kind) && !isSystemTable(name),
  );
}
