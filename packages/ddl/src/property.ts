/*! What is known of a property: how it is parsed, printed, compared and altered. `properties/` and `columns/` have one entry for each. */

import type { FeatureName, HasFeature } from './features.js';
import type { Clause } from './parser/clause-reader.js';
import type { Cursor } from './parser/cursor.js';
import type { FoundObject, NameLookup } from './parser/lookup.js';

/** The name of a column's property: `column 'qty' index`, or `column 'qty'` without a suffix. */
export const columnPropertyName = (column: string, suffix = '') => `column '${column}'${suffix}` as const;

/** The parts of the name of a column's property, see `columnPropertyName`. Undefined for any other property. */
export function parseColumnPropertyName(property: string) {
  const [, column, suffix = ''] = /^column '([^']*)'(.*)$/s.exec(property) ?? [];
  return column === undefined ? undefined : { column, suffix };
}

/** No ALTER changes the order of columns: a new column is the last one. */
export const COLUMN_ORDER = 'column order';

/** Whether nothing differs but the order of columns. */
export const isColumnOrder = (properties: readonly string[]): boolean =>
  properties.length > 0 && properties.every(property => property === COLUMN_ORDER);

/** In whose form a definition is printed, and whether names are quoted. */
export interface PrintOptions {
  /**
   * - `9.3`: the form of servers from 9.3 on
   * - `9.0`: the form of servers 9.0 to 9.2, with capacities and parameters of tables
   * - `complete`: also with clauses that no server prints
   */
  readonly form: '9.3' | '9.0' | 'complete';
  /** Whether names that need quotes are quoted. The server always prints column names and volumes without quotes. */
  readonly quoted: boolean;
}

/** Prints every clause that a definition states, or for which servers may have different defaults. */
export const EXPLICIT: PrintOptions = { form: 'complete', quoted: true };

/** A property of tables or views. F has its fields in a definition, A is the action of the ALTER that sets it, N are the names. */
export interface Property<F extends object, A extends Action = never, N extends string = string> extends Clause<F> {
  readonly name: N;
  /** The value as text, by which two definitions are compared; undefined if a definition does not state the property. */
  value(definition: F): string | undefined;
  /** Whether no server shows the property. If only one definition states it, it is reported as not comparable. */
  readonly isHidden?: boolean;
  /** Whether a statement may leave it open and nothing depends on it. A plan keeps what B has, and recreates no view for it. */
  readonly isOptional?: boolean;
  /** Prints the clause in CREATE with the white space before it; '' if there is none. */
  print?(definition: F, options: PrintOptions): string;
  readonly features?: readonly Feature<F>[];
  /** The clause in another edition, with the white space before it; undefined if it is the same. A reason follows `loss` in a sentence. */
  translate?(definition: F, hasFeature: HasFeature): { readonly clause: string; readonly loss?: string } | undefined;
  readonly alter?: PropertyAlter<F, A, N>;
  readonly unalterable?: { readonly reason?: string; readonly needsNewTable?: boolean };
}

/** Why no ALTER sets the property, or not to every value, and whether a new table could have it. */
export type Unalterable = Required<Property<object>>['unalterable'];

export interface Feature<F> {
  readonly name: FeatureName;
  /** Matches each statement that needs the feature. Only statements that match are parsed. */
  readonly pattern: RegExp;
  isIn(definition: F): boolean;
  /** The clause without the feature. Missing if the object is of no use without the feature. */
  without?(clause: string): string;
  /** What the object loses without the feature, if that is not the complete clause. */
  readonly loss?: string;
}

/** The action of an ALTER: `{ action: 'format', isParquet: true }`. */
interface Action {
  readonly action: string;
}

export interface PropertyAlter<F extends object, A extends Action, N extends string = string> {
  readonly actions: readonly A['action'][];
  /** The names of the properties that it sets; the first is that of the entry. */
  readonly sets: readonly N[];
  /** Whether it can make rows expire, which nothing undoes. */
  readonly changesExpiry?: boolean;
  /** The parsers of the text after its first words, by these words: `{ 'set format': … }`. */
  readonly syntax: Readonly<Record<string, (cursor: Cursor, lookup: NameLookup, altered: FoundObject) => A>>;
  print(alteration: A): string;
  /** Returns the fields that the ALTER changes. By default, these are the fields of A. */
  apply?(definition: F, alteration: A): Partial<F>;
  readonly permissions: readonly [string, ...string[]];
  /** By default, the first one. */
  permission?(alteration: A): string;
  /** The action that gives a definition the wanted value; undefined if there is none, or none is needed. */
  between(wanted: F, current: F, hasFeature: HasFeature): A | undefined;
}

/** Makes an entry whose names are known to the compiler. */
export const defineProperty =
  <F extends object, A extends Action = never>() =>
  <const N extends string>(entry: Property<F, A, N>): Property<F, A, N> =>
    entry;
