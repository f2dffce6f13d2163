/*! DROP and RENAME: what they do to the catalogue. */
import type { Change } from '@sqlpipe/ddl';
import type { Session } from '../session.js';
import { GONE_TABLE, invalidate, invalidateLiveViews } from '../validity.js';

/** Drops an object, if it exists. */
export function dropObject(name: string, { catalogue }: Session): void {
  const object = catalogue.find(name);
  if (!object) return;
  catalogue.drop(object.name);
  invalidate(catalogue, object.name, GONE_TABLE);
  invalidateLiveViews(catalogue, object.name, () => GONE_TABLE);
}

/** Renames a table. */
export function renameTable({ name, to }: Extract<Change, { verb: 'rename' }>, session: Session): void {
  const table = session.catalogue.find(name);
  dropObject(name, session);
  if (table) session.catalogue.put({ ...table, name: to });
}
