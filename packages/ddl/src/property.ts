/*! What is known of a property: how it is parsed, printed, compared and altered. `properties/` and `columns/` have one entry for each. */
import type { ClauseReader, CreateContext } from './parser/clause-reader.js';
import type { Cursor } from './parser/cursor.js';
import type { FeatureName, HasFeature } from './parser/features.js';
import type { FoundObject, NameLookup } from './parser/lookup.js';

/** A property of a table or a view that a clause of its own states. */
export type ClauseName =
  | ('designated timestamp' | 'partitioning' | 'TTL' | 'storage policy' | 'format' | 'WAL' | 'volume' | 'dedup keys')
  | ('maxUncommittedRows' | 'o3MaxLag' | 'owner' | 'base' | 'refresh' | 'refresh start' | 'refresh period')
  | ('refresh time zone' | 'indexes' | 'expiry of rows' | 'flush interval' | 'time in memory' | 'start');

/** The end of the name of a column's property; empty for the column itself. */
export type ColumnSuffix = '' | ' name' | ' type' | ' cache' | ' capacity' | ' index' | ' Parquet settings';

/** Any property in which statements or objects can differ. */
export type PropertyName =
  | ClauseName
  | `column '${string}'${ColumnSuffix}`
  | ('name' | 'kind' | 'query' | 'column order' | 'statement')
  | ('external alias' | 'credentials' | 'invalid' | 'suspended')
  | `GRANT ${string}`; // a grant whose option would be lost

/** The name of a column's property: `column 'qty' index`, or `column 'qty'` without a suffix. */
export const columnProperty = (column: string, suffix: ColumnSuffix = ''): PropertyName =>
  `column '${column}'${suffix}`;

/** The parts of the name of a column's property, see `columnProperty`. Undefined for any other property. */
export function parseColumnProperty(
  property: string,
): { readonly column: string; readonly suffix: string } | undefined {
  const [, column, suffix = ''] = /^column '([^']*)'(.*)$/s.exec(property) ?? [];
  return column === undefined ? undefined : { column, suffix };
}

/** No ALTER changes the order of columns: a new column is the last one. */
export const COLUMN_ORDER = 'column order';

/** Whether nothing differs but the order of columns. */
export const isColumnOrder = (properties: readonly PropertyName[]): boolean =>
  properties.length > 0 && properties.every(property => property === COLUMN_ORDER);

export interface PrintOptions {
  /** The servers whose form is printed: 9.3 and later, or 9.0 to 9.2, which print capacities and parameters of tables. */
  readonly form: '9.3' | '9.0';
  /** Whether names that need quotes are quoted. The server always prints column names and volumes without quotes. */
  readonly quoted: boolean;
}

/** Prints every clause for which servers may have different defaults. */
export const EXPLICIT: PrintOptions = { form: '9.0', quoted: true };

/** A property of tables or views. F has its fields in a definition, and A is the action of the ALTER that sets it. */
export interface Property<F extends object, A extends Action = never> {
  /** In the user's words, as a comparison and `--ignore` name it: `partitioning`, `dedup keys`. */
  readonly name: ClauseName;
  /** The value as text, by which two definitions are compared; undefined if a definition does not state the property. */
  value(definition: F): string | undefined;
  /** Whether no server shows the property. If only one definition states it, it is reported as not comparable. */
  readonly isHidden?: boolean;
  /** Prints the clause in CREATE with the white space before it; '' if there is none. */
  print?(definition: F, options: PrintOptions): string;
  /** The possible first words of the clause in CREATE. */
  readonly words?: readonly string[];
  /** By default, every server knows the clause. */
  isKnown?(context: CreateContext): boolean;
  /** Parses the clause after its first word. Sets `reader.position` if a rejection of the value has another position than that word. */
  parse?(reader: ClauseReader): Partial<F>;
  /** What a CREATE without the clause states. */
  absent?(reader: ClauseReader): Partial<F>;
  /** Checks the value against other clauses. @throws RejectionError at the position of the value */
  check?(definition: Partial<F>, position: number, context: CreateContext): void;
  readonly feature?: Feature<F>;
  /** Translates the clause to another edition; undefined if it is the same there. */
  translate?(definition: F, has: HasFeature): ClauseTranslation | undefined;
  readonly alter?: PropertyAlter<F, A>;
  /** Why no ALTER sets the property, or not to every value. */
  readonly unalterable?: string;
}

export interface ClauseTranslation {
  /** The clause with the white space before it. */
  readonly clause: string;
  /** What is lost, as the start of a sentence that a reason ends. */
  readonly loss?: string;
}

export interface Feature<F> {
  readonly name: FeatureName;
  /** Matches each statement that needs the feature. Only statements that match are parsed. */
  readonly word: RegExp;
  isIn(definition: F): boolean;
  /** Whether the object can be created without the feature. */
  readonly isDispensable?: boolean;
}

/** The action of an ALTER: `{ action: 'format', parquet: true }`. */
interface Action {
  readonly action: string;
}

export interface PropertyAlter<F extends object, A extends Action> {
  readonly actions: readonly A['action'][];
  /** The names of the properties that it sets; the first is that of the entry. */
  readonly sets: readonly PropertyName[];
  /** Whether it can make rows expire, which nothing undoes. */
  readonly expiresRows?: boolean;
  /** The parsers of the text after its first words, by these words: `{ 'set format': … }`. */
  readonly syntax: Readonly<Record<string, (cursor: Cursor, lookup: NameLookup, altered: FoundObject) => A>>;
  /** By default, every server knows this ALTER. */
  isKnown?(lookup: NameLookup): boolean;
  print(alteration: A): string;
  /** Returns the definition after the ALTER. By default, the fields of A replace those of the definition. */
  apply?(definition: F, alteration: A): F;
  permission(alteration: A): string;
  /** The action that gives a definition the wanted value; undefined if there is none, or none is needed. */
  between(wanted: F, now: F, has: HasFeature): A | undefined;
}

export const property = <F extends object, A extends Action = never>(entry: Property<F, A>): Property<F, A> => entry;
