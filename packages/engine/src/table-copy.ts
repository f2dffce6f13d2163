/*! What a table loses if only a copy of it remains. A plan that cannot alter a table copies its rows to a new one. */
import { type Column, findColumn, isLossless } from '@sqlpipe/ddl';
import { isSameName } from '@sqlpipe/sql';
import type { Table } from './catalogue-objects.js';
import { columnLoss, type Effect, keysLost, retentionEffects } from './effects.js';

/** A table that has all rows of another table, with the names of the columns in both. */
export interface Copy {
  readonly from: string;
  readonly to: string;
  readonly columns: readonly { readonly from: string; readonly to: string }[];
}

/** The losses of a table that is gone, and whose rows are in a copy. */
export function lossesOfCopy(before: Table, copied: Table, copy: Copy): Effect[] {
  return [
    ...retentionEffects(before, copied),
    ...keysLost(before, copied, column => findCopied(column, copied, copy)),
    ...before.columns.flatMap(column => {
      const now = findCopied(column, copied, copy);
      return now && isLossless(column.type, now.type) ? [] : [columnLoss(before.name, column, now?.type)];
    }),
  ];
}

/** The column of a copy that holds the values of a column. */
function findCopied({ name }: Column, table: Table, { columns }: Copy): Column | undefined {
  const to = columns.find(({ from }) => isSameName(from, name))?.to;
  return to === undefined ? undefined : findColumn(table, to);
}
