/*! What a table loses if only a copy of it remains. A plan that cannot alter a table copies its rows to a new one. */
import { type Column, findColumn, isLossless, type TableDefinition } from '@sqlpipe/ddl';
import { isSameName } from '@sqlpipe/sql';
import type { CatalogueObject, StoredColumn } from './catalogue-objects.js';
import { columnLoss, type Effect, findExpiryLosses, findKeyLosses } from './effects.js';
import type { Copy, Ledger } from './ledger.js';

/** Finds the table that now holds a copy of the rows of another one, and what the copy lacks. */
export function findCopy(copied: CatalogueObject, { catalogue, copies, keptAs }: Ledger) {
  const copy = copies.get(copied.id);
  const table = catalogue.findById(copy?.table.id);
  if (!copy || table?.kind !== 'table' || copied.kind !== 'table') return undefined;
  const isKept = (column: StoredColumn, to: string) => keptAs.of(column.id).includes(to);
  return { table, losses: findCopyLosses(copied, table, copy.columns, isKept) };
}

/**
 * Finds what a table loses that is gone, and whose rows are in a copy.
 * @param isKept whether all values of a column are known to be the same in another type; by default, what the types alone show
 */
export function findCopyLosses(
  before: TableDefinition,
  copied: TableDefinition,
  columns: Copy['columns'],
  isKept: (column: Column, to: string) => boolean = () => false,
): Effect[] {
  const findCopied = ({ name }: Column): Column | undefined =>
    findColumn(copied, columns.find(({ from }) => isSameName(from, name))?.to ?? '');
  return [
    ...findExpiryLosses(before, copied),
    ...findKeyLosses(before, copied, findCopied),
    ...before.columns.flatMap(column => {
      const now = findCopied(column);
      return now && (isLossless(column.type, now.type) || isKept(column, now.type))
        ? []
        : [columnLoss(before.name, column, now?.type)];
    }),
  ];
}
