/*! What is known of a property: how it is parsed, printed, compared and altered. `properties/` and `columns/` have one entry for each. */
import type { ClauseReader, CreateContext } from './grammar/clause-reader.js';
import type { Cursor } from './grammar/cursor.js';
import type { FeatureName } from './grammar/features.js';
import type { FoundObject, NameLookup } from './grammar/lookup.js';

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

/** How to print a definition. */
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
  /** The first word of the clause in CREATE: one of these. */
  readonly words?: readonly string[];
  /** Whether a server knows the clause; by default each does. */
  isKnown?(context: CreateContext): boolean;
  /**
   * Parses the clause in CREATE after its first word, up to its last token; returns what it states. If a rejection of the value has
   * another position than that word, sets `reader.position`.
   */
  parse?(reader: ClauseReader): Partial<F>;
  /** What CREATE states without the clause. */
  absent?(reader: ClauseReader): Partial<F>;
  /** Checks the value against other clauses. @throws RejectionError at the position of the value */
  check?(definition: Partial<F>, position: number, context: CreateContext): void;
  readonly feature?: Feature<F>;
  /** Translates the clause to another edition; undefined if it is the same there. */
  translate?(definition: F, edition: Edition): ClauseTranslation | undefined;
  readonly alter?: PropertyAlter<F, A>;
  /** Why no ALTER sets the property, or not to every value. */
  readonly unalterable?: string;
}

/** An edition of the server. Only enterprise has storage policies. */
export interface Edition {
  readonly isEnterprise: boolean;
}

/** What an edition has in the place of a clause. */
export interface ClauseTranslation {
  /** The clause with the white space before it. */
  readonly clause: string;
  /** What is lost, as a sentence that a reason follows. */
  readonly loss?: string;
}

/** A feature of the server that a definition may need. */
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

/** The ALTER that sets a property. */
export interface PropertyAlter<F extends object, A extends Action> {
  readonly actions: readonly A['action'][];
  /** The names of the properties that it sets; the first is that of the entry. */
  readonly sets: readonly PropertyName[];
  /** Whether it can make rows expire, which nothing undoes. */
  readonly expiresRows?: boolean;
  /** The parsers of the text after its first words, by these words: `{ 'set format': … }`. */
  readonly syntax: Readonly<Record<string, (cursor: Cursor, lookup: NameLookup, altered: FoundObject) => A>>;
  /** Whether a server knows this ALTER; by default each does. */
  isKnown?(lookup: NameLookup): boolean;
  print(alteration: A): string;
  /** Returns the definition after the ALTER. By default, the fields of A replace those of the definition. */
  apply?(definition: F, alteration: A): F;
  permission(alteration: A): string;
  /** The action that gives a definition the wanted value; undefined if there is none, or none is needed. */
  between(wanted: F, now: F, edition: Edition): A | undefined;
}

/** Declares a property. */
export const property = <F extends object, A extends Action = never>(entry: Property<F, A>): Property<F, A> => entry;
