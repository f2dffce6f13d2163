/*! The properties of columns, in the order in which differences are reported and clauses are printed. */
import { parseColumnPropertyName } from '../property.js';
import type { ColumnPropertyOf } from './column-property.js';
import { INDEX } from './indexes.js';
import { PARQUET } from './parquet.js';
import { CACHE, CAPACITY, TYPE } from './type.js';

const OPTION_ENTRIES = [CACHE, CAPACITY, INDEX, PARQUET] as const;

export type ColumnAlteration = Parameters<(typeof TYPE | (typeof OPTION_ENTRIES)[number])['alter']['print']>[0];

type AnyColumnProperty = ColumnPropertyOf<ColumnAlteration>;

/** The type of a column. */
export const COLUMN_TYPE: AnyColumnProperty = TYPE;

/** What a column has besides its name and its type. */
export const COLUMN_OPTIONS: readonly AnyColumnProperty[] = OPTION_ENTRIES;

export const COLUMN_PROPERTIES = [COLUMN_TYPE, ...COLUMN_OPTIONS];

/** Finds the property of a column by its name in a comparison, such as `column 'qty' index`. */
export function findColumnProperty(named: string): AnyColumnProperty | undefined {
  const parsed = parseColumnPropertyName(named);
  return COLUMN_PROPERTIES.find(({ suffix }) => suffix === parsed?.suffix);
}
