/*!
 * The dump of a server that has no SHOW CREATE DATABASE (QuestDB before 10): its objects one by one, put in the order
 * that the statement would give. The catalogue is no snapshot, so it is read until two readings agree.
 */

import { isSystemTable } from '@sqlpipe/ddl';
import { Catalog, dumpOrder } from '@sqlpipe/schema';
import type { Kind } from '@sqlpipe/sql';
import { hasDefinition, printedAs } from './definitions.js';
import { InstanceError } from './error.js';
import type { Instance } from './instance.js';
import { allObjects, type ObjectName } from './objects.js';

/** How often the schema is read before one that keeps changing is given up. */
const READINGS = 6;

/**
 * The rows that SHOW CREATE DATABASE would give.
 * @throws InstanceError, and with code UNREACHABLE where the schema keeps changing while it is read
 */
export async function catalogueRows(source: Instance, selects: (kind: Kind) => boolean): Promise<string[]> {
  let rows = await readRows(source, selects);
  for (let reading = 2; ; reading++) {
    const again = await readRows(source, selects);
    if (again.length === rows.length && again.every((row, i) => row === rows[i])) break;
    if (reading === READINGS)
      throw new InstanceError(
        'UNREACHABLE',
        `${source.label}: the schema keeps changing while it is read; try again when it is at rest`,
      );
    rows = again;
  }
  return dumpOrder(new Catalog(rows)).map(({ statement }) => statement);
}

/** All definitions. An object dropped since it was listed has none; the next reading will tell. */
async function readRows(source: Instance, selects: (kind: Kind) => boolean): Promise<string[]> {
  const rows = await printedAs(source, await listObjects(source, selects));
  return rows.filter(row => row !== undefined);
}

/** The objects that the dump has: selected, and no system tables. */
async function listObjects(source: Instance, selects: (kind: Kind) => boolean): Promise<ObjectName[]> {
  return (await allObjects(source)).filter(
    ({ name, kind }) => hasDefinition(kind) && selects(kind) && !isSystemTable(name),
  );
}
