/*! The interface of an entry in the table of properties. */
import type { FoundObject, NameLookup } from '../change/lookup.js';
import type { ClauseReader, CreateContext } from '../create/clause-reader.js';
import type { Cursor } from '../grammar/cursor.js';
import type { FeatureName } from '../grammar/features.js';

/** How to print a definition. */
export interface PrintOptions {
  /**
   * The servers whose form is printed: 9.3 and later, or 9.0 to 9.2, which print capacities and parameters of tables.
   */
  readonly form: '9.3' | '9.0';
  /**
   * Whether names that need quotes are quoted. The server prints column names and volumes without quotes, whatever they
   * contain.
   */
  readonly quoted: boolean;
}

/** Prints what a server may have another default for. */
export const EXPLICIT: PrintOptions = { form: '9.0', quoted: true };

/** A property of tables or views. F is what it is in a definition. */
export interface Property<F extends object> {
  /** In the user's words, as a comparison and `--ignore` name it: `partitioning`, `dedup keys`. */
  readonly name: string;
  /** The value as text, by which two are compared; undefined if a definition does not state it. */
  value(definition: F): string | undefined;
  /** Whether a value that only one definition has is reported as not comparable: no server shows it. */
  readonly isHidden?: boolean;
  /** The clause in CREATE with the white space before it; '' if there is none. */
  print?(definition: F, options: PrintOptions): string;
  /**
   * Reads the clause in CREATE, if `reader.begins` its first word, and the token after it.
   * @returns what it states
   */
  parse?(reader: ClauseReader): Partial<F> | undefined;
  /** Checks it against other clauses. @throws RejectionError at the position of its value */
  check?(definition: Partial<F>, position: number, context: CreateContext): void;
  /** What a server must know to accept the clause. */
  readonly feature?: Feature<F>;
  /** What another edition has in its place; undefined if it is the same there. */
  translate?(definition: F, edition: Edition): Translation | undefined;
  /** The ALTER that sets it. */
  readonly alter?: PropertyAlter<F>;
  /** Why no ALTER sets it, or not to every value. */
  readonly unalterable?: string;
}

/** An edition of the server. Only enterprise has storage policies. */
export interface Edition {
  readonly isEnterprise: boolean;
}

/** What an edition has in the place of a clause. */
export interface Translation {
  /** The clause with the white space before it. */
  readonly clause: string;
  /** What is lost, as a sentence that a reason follows. */
  readonly loss?: string;
}

/** A feature of the server that a definition may need. */
export interface Feature<F> {
  readonly name: FeatureName;
  /** Every statement that needs it contains this; the others need not be parsed. */
  readonly word: RegExp;
  /** Whether a definition needs it. */
  isIn(definition: F): boolean;
  /** Whether the object is still of use without it. */
  readonly isDispensable?: boolean;
}

/** An ALTER that sets a property. A is what it says: `{ action: 'format', parquet: true }`. */
export interface PropertyAlter<F extends object, A extends { readonly action: string } = { readonly action: string }> {
  /** The values of `action` in A. */
  readonly actions: readonly A['action'][];
  /** The properties that it sets; the first is its own. */
  readonly sets: readonly string[];
  /** Whether it can make rows expire, which nothing undoes. */
  readonly expiresRows?: boolean;
  /** By its first words, how the rest is parsed: `{ 'set format': … }`. */
  readonly syntax: Readonly<Record<string, (cursor: Cursor, lookup: NameLookup, altered: FoundObject) => A>>;
  /** Whether a server knows it; by default each does. */
  isKnown?(lookup: NameLookup): boolean;
  /** The text after the name of the object. */
  print(alteration: A): string;
  /** The definition after it. By default what A says replaces what the definition says. */
  apply?(definition: F, alteration: A): F;
  /** The permission that it requires, if it requires one. */
  permission(alteration: A): string | undefined;
  /** Finds the one that makes a definition the wanted one in this property; undefined if none does, or none has to. */
  find(wanted: F, now: F, edition: Edition): A | undefined;
}

/** An entry of the table as the compiler infers it, so that the type of its alterations is known. */
export const property = <F extends object, A extends { readonly action: string } = never>(
  entry: Omit<Property<F>, 'alter'> & { readonly alter?: PropertyAlter<F, A> },
): Property<F> & { readonly alter?: PropertyAlter<F, A> } => entry as never;
