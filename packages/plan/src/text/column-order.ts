/*! What every program says about a table whose columns have another order. */
import { COLUMN_ORDER } from '@sqlpipe/ddl';
import { formatPath, formatPathForShell } from '../object-path.js';

/** Why the order of a table's columns stays, and the two ways out. */
export const describeColumnOrder = (table: string): string =>
  `no ALTER changes the order of columns; --ignore '${COLUMN_ORDER}' accepts it, sqldiff --alter --rebuild ${formatPathForShell(formatPath({ object: table }))} makes a new table`;
