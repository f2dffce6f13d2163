/*! The properties of columns, in the order in which differences are reported and clauses are printed. */
import { parseColumnProperty } from '../property.js';
import type { ColumnEntry } from './column-property.js';
import { INDEX } from './indexes.js';
import { PARQUET } from './parquet.js';
import { CACHE, CAPACITY, TYPE } from './type.js';

const ENTRIES = [TYPE, CACHE, CAPACITY, INDEX, PARQUET] as const;

export type ColumnAlteration = Parameters<(typeof ENTRIES)[number]['alter']['print']>[0];

export type AnyColumnProperty = ColumnEntry<ColumnAlteration>;

export const COLUMN_PROPERTIES = ENTRIES as unknown as readonly [AnyColumnProperty, ...AnyColumnProperty[]];

/** The type of a column, and what a column has besides its name and its type. */
export const [COLUMN_TYPE, ...COLUMN_OPTIONS] = COLUMN_PROPERTIES;

/** Finds the property of a column by its name in a comparison, such as `column 'qty' index`. */
export function findColumnProperty(named: string): AnyColumnProperty | undefined {
  const suffix = parseColumnProperty(named)?.suffix;
  return COLUMN_PROPERTIES.find(({ name }) => name === suffix);
}
