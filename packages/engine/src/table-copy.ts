/*! What a table loses if only a copy of it remains. A plan that cannot alter a table copies its rows to a new one. */
import { type Column, findColumn, isLossless, type TableDefinition } from '@sqlpipe/ddl';
import { isSameName } from '@sqlpipe/sql';
import type { CatalogueObject } from './catalogue-objects.js';
import { columnLoss, type Effect, keysLost, retentionEffects } from './effects.js';
import type { Copy, Ledger } from './ledger.js';

/** The table that holds a copy of another one now, and what is not in the copy; undefined if there is none. */
export function findCopy(copied: CatalogueObject, { catalogue, copies }: Ledger) {
  const copy = copies.get(copied.id);
  const table = catalogue.findById(copy?.table.id);
  if (!copy || table?.kind !== 'table' || copied.kind !== 'table') return undefined;
  return { table, losses: lossesOfCopy(copied, table, copy.columns) };
}

/** The losses of a table that is gone, and whose rows are in a copy. */
export function lossesOfCopy(before: TableDefinition, copied: TableDefinition, columns: Copy['columns']): Effect[] {
  const findCopied = ({ name }: Column): Column | undefined =>
    findColumn(copied, columns.find(({ from }) => isSameName(from, name))?.to ?? '');
  return [
    ...retentionEffects(before, copied),
    ...keysLost(before, copied, findCopied),
    ...before.columns.flatMap(column => {
      const now = findCopied(column);
      return now && isLossless(column.type, now.type) ? [] : [columnLoss(before.name, column, now?.type)];
    }),
  ];
}
