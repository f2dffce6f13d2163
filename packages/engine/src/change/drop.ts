/*! DROP, RENAME and TRUNCATE: what they do to the catalog. */
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

/** Truncates tables: there are no rows, but the materialized views over them become invalid. */
export function truncate(names: readonly string[], { catalog }: Session): void {
  for (const table of names.flatMap(name => catalog.find(name) ?? []))
    invalidate(catalog, table.name, 'truncate operation');
}
