/*! DROP and RENAME: what they do to the catalogue. */
import type { Change } from '@sqlpipe/ddl';
import type { Session } from '../session.js';
import { GONE_TABLE, invalidate } from '../validity.js';

/** Drops an object, if it exists. */
export function dropObject(name: string, { catalog }: Session): void {
  const object = catalog.find(name);
  if (!object) return;
  catalog.drop(object.name);
  invalidate(catalog, object.name, GONE_TABLE);
}

/** Renames a table. */
export function renameTable({ name, to }: Extract<Change, { verb: 'rename' }>, { catalog }: Session): void {
  const table = catalog.find(name);
  if (!table) return;
  catalog.drop(table.name);
  catalog.put({ ...table, name: to });
  invalidate(catalog, table.name, GONE_TABLE);
}
