/*! The names of properties, as a comparison shows them and `--ignore` accepts them. */

/** A property of a table or a view that a clause of its own states. */
export type ClauseName =
  | ('designated timestamp' | 'partitioning' | 'TTL' | 'storage policy' | 'format' | 'WAL' | 'volume' | 'dedup keys')
  | ('maxUncommittedRows' | 'o3MaxLag' | 'owner' | 'base' | 'refresh' | 'refresh start' | 'refresh period')
  | ('refresh time zone' | 'indexes' | 'expiry of rows' | 'flush interval' | 'time in memory' | 'start');

/** A property of a column, after the name of the column; that of its type is empty. */
export type ColumnSuffix = '' | ' name' | ' type' | ' cache' | ' capacity' | ' index' | ' Parquet settings';

/** Any property in which statements or objects can differ. */
export type PropertyName =
  | ClauseName
  | `column '${string}'${ColumnSuffix}`
  | ('name' | 'kind' | 'query' | 'column order' | 'statement')
  | ('external alias' | 'credentials' | 'invalid' | 'suspended')
  | `GRANT ${string}`; // a grant whose option would be lost

/** The name of a column's property: `column 'qty' index`; without a suffix that of the column. */
export const columnProperty = (column: string, suffix: ColumnSuffix = ''): PropertyName =>
  `column '${column}'${suffix}`;

/** The order of columns: no ALTER changes it, because a new column is the last one. To most users it does not matter. */
export const COLUMN_ORDER = 'column order';

/** Whether nothing differs but the order of columns. */
export const isColumnOrder = (properties: readonly PropertyName[]): boolean =>
  properties.length > 0 && properties.every(property => property === COLUMN_ORDER);
