/*! Executes ALTER: changes a table or a view, and the health of the materialized and live views over it. */
import { type Alter, applyAlteration, findColumn } from '@sqlpipe/ddl';
import type { Body } from '@sqlpipe/ddl/grammar';
import type { Table } from '../catalogue-objects.js';
import type { Session } from '../session.js';
import { createView, defaultStart } from './create.js';
import { findColumnsReadFromBase, invalidateLiveViews, invalidateMaterializedViews } from './validity.js';

/** Alters one table. */
export function alterTable(alters: readonly Alter[], { catalogue, assignColumnOwner }: Session): void {
  const table = catalogue.find(alters[0]?.name ?? '');
  if (table?.kind !== 'table') return;
  let changed = table;
  for (const { alteration } of alters) {
    if (alteration.action === 'add column' && !findColumn(changed, alteration.column.name))
      assignColumnOwner(table.name, alteration.column.name, alteration.owner);
    changed = applyAlteration(changed, alteration);
  }
  const restructured =
    changed.columns.some((column, i) => column.name !== table.columns[i]?.name) ||
    changed.columns.length < table.columns.length;
  const operation = columnOperation(table, changed);
  if (operation)
    invalidateLiveViews(catalogue, table.name, view => {
      const read = findColumnsReadFromBase(view, catalogue);
      const column = table.columns.find(
        ({ name, type }) => findColumn(changed, name)?.type !== type && (read?.includes(name) ?? true),
      );
      return column && `${operation} [column=${column.name}]`;
    });
  catalogue.put(restructured ? { ...changed, structure: (table.structure ?? 0) + 1 } : changed);
  if (operation) invalidateMaterializedViews(catalogue, table.name, operation);
}

/** How the existing columns were changed, in the words in which materialized views over the table report it. */
function columnOperation({ columns: oldColumns }: Table, { columns: newColumns }: Table): string | undefined {
  if (newColumns.length < oldColumns.length) return 'drop column operation';
  if (oldColumns.some(({ name }, i) => newColumns[i]?.name !== name)) return 'rename column operation';
  return oldColumns.some(({ type }, i) => newColumns[i]?.type !== type) ? 'change column type operation' : undefined;
}

/** Replaces the query of a view. */
export function alterView({ name }: Alter, body: Body, session: Session): void {
  const view = session.catalogue.find(name);
  if (view?.kind !== 'view') return;
  createView(session, { definition: view, position: body.start, ifNotExists: false, orReplace: true, body });
}

/** Changes how a materialized view is refreshed, how long its data or that of a live view is kept, or its indexes. */
export function alterStoredView({ name, alteration }: Alter, { catalogue }: Session): void {
  const view = catalogue.resolve(name);
  if (view?.kind === 'live view') return catalogue.put(applyAlteration(view, alteration));
  if (view?.kind !== 'materialized view') return;
  const changed = applyAlteration(view, alteration);
  if (alteration.action !== 'refresh') return catalogue.put(changed);
  const { start = defaultStart(alteration.refresh), ...refresh } = changed.refresh;
  catalogue.put({ ...changed, refresh: { ...refresh, start } });
}
