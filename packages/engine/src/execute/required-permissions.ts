/*! Checks the permissions that statements other than CREATE require. */
import { type Alteration, type ChangeStatement, findColumn, permissionFor } from '@sqlpipe/ddl';
import type { Session } from '../session.js';

/** Requires the permissions for a statement. @throws DenialError */
export function authorizeChange(change: ChangeStatement, { catalogue, authorize }: Session): void {
  if (change.verb === 'drop all') return authorize('DATABASE ADMIN');
  if (change.verb === 'rebase wal') return authorize('SYSTEM ADMIN');
  if (change.verb === 'alter') {
    for (const { name, alteration } of change.alters) {
      const permission = permissionFor(alteration) ?? PERMISSIONS[alteration.action];
      const object = catalogue.find(name);
      if (permission && object) authorize(permission, object.name, columnsOf(alteration, object.columns));
    }
    return;
  }
  const permission = change.verb === 'drop' ? `DROP ${change.kind.toUpperCase()}` : PERMISSIONS[change.verb];
  if (!permission) return;
  // With IF EXISTS there may be nothing to change.
  for (const { name } of ('names' in change ? change.names : [change.name]).flatMap(name => catalogue.find(name) ?? []))
    authorize(permission, name);
}

/** The columns for which a permission suffices; undefined if it must be for the table, as for adding or renaming a column. */
function columnsOf(alteration: Alteration, columns: Parameters<typeof findColumn>[0]['columns']): string[] | undefined {
  if (!('column' in alteration) || alteration.action === 'add column' || alteration.action === 'rename column')
    return undefined;
  return [findColumn({ columns }, alteration.column)?.name ?? alteration.column];
}

const PERMISSIONS: { readonly [what in ChangeStatement['verb'] | Alteration['action']]?: string } = {
  'add column': 'ADD COLUMN',
  compile: 'COMPILE VIEW',
  'drop column': 'DROP COLUMN',
  query: 'ALTER VIEW',
  refresh: 'REFRESH MATERIALIZED VIEW',
  'refresh range': 'REFRESH MATERIALIZED VIEW',
  'refresh stats': 'REFRESH MATERIALIZED VIEW',
  rename: 'RENAME TABLE',
  'rename column': 'RENAME COLUMN',
  'resume wal': 'RESUME WAL',
  'set refresh limit': 'ALTER MATERIALIZED VIEW',
  'set type': 'SET TABLE TYPE',
  'suspend wal': 'RESUME WAL',
  truncate: 'TRUNCATE TABLE',
  vacuum: 'VACUUM TABLE',
};
