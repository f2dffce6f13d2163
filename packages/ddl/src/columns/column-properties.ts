/*! The properties of columns, in the order in which differences are reported and clauses are printed. */
import { parseColumnProperty } from '../property.js';
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

/** Finds the property of a column by its name in a comparison, such as `column 'qty' index`. */
export function findColumnProperty(named: string): AnyColumnProperty | undefined {
  const suffix = parseColumnProperty(named)?.suffix;
  return COLUMN_PROPERTIES.find(({ name }) => name === suffix);
}
