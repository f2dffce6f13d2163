/*! What every program says about a table whose columns have another order. */
import { COLUMN_ORDER } from '@sqlpipe/ddl';
import { formatPath, formatPathForShell } from '../object-path.js';

/** Why the order of a table's columns stays. */
export const COLUMN_ORDER_REASON = 'no ALTER changes the order of columns';

/** The two ways out. */
export const columnOrderHints = (table: string): string[] => [
  `--ignore '${COLUMN_ORDER}' accepts this order`,
  `sqldiff --alter --rebuild ${formatPathForShell(formatPath({ object: table }))} makes a new table`,
];
