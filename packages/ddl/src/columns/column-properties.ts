/*! The properties of columns, in the order in which differences are reported and clauses are printed. */
import type { ColumnEntry } from './column-property.js';
import { INDEX } from './indexes.js';
import { PARQUET } from './parquet.js';
import { CACHE, CAPACITY, TYPE } from './type.js';

const OPTIONS = [CACHE, CAPACITY, INDEX, PARQUET] as const;

export type ColumnAlteration = Parameters<(typeof TYPE | (typeof OPTIONS)[number])['alter']['print']>[0];

export type AnyColumnProperty = ColumnEntry<ColumnAlteration>;

/** The type of a column. */
export const COLUMN_TYPE = TYPE as unknown as AnyColumnProperty;

/** What a column has besides its name and its type. */
export const COLUMN_OPTIONS = OPTIONS as unknown as readonly AnyColumnProperty[];

export const COLUMN_PROPERTIES = [COLUMN_TYPE, ...COLUMN_OPTIONS];

/** A property of a column by its name in a comparison. */
export function findColumnProperty(named: string): AnyColumnProperty | undefined {
  const property = /^column '[^']*'(.*)$/s.exec(named)?.[1];
  return COLUMN_PROPERTIES.find(({ name }) => name === property);
}
