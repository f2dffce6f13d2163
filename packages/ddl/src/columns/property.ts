/*! The interface of an entry in the table of column properties. */
import type { KnownObject, NameLookup } from '../change/lookup.js';
import type { Column } from '../definition.js';
import type { Cursor } from '../grammar/cursor.js';
import { RejectionError } from '../grammar/rejection-error.js';
import type { Property, PropertyAlter } from '../properties/property.js';

/** What a statement says of a column. For a column of a query, `type` may be empty, and `cached` may be missing. */
export type StatedColumn = Omit<Column, 'name' | 'dedup' | 'cached'> & { readonly cached?: boolean };

/** What an ALTER COLUMN says: `{ action: 'cache', column: 's', cached: true }`, with the name as written. */
type Alteration<Action, Values> = { readonly action: Action; readonly column: string } & Readonly<Values>;

/**
 * A property of a column. The name follows that of the column: ` index` in `column 'qty' index`; that of the type is empty. The clause
 * follows the name of the column.
 */
export interface ColumnEntry<A extends Alteration<string, object>>
  extends Pick<Property<StatedColumn>, 'name' | 'value' | 'print' | 'isHidden' | 'feature' | 'unalterable'> {
  readonly alter: ColumnAlter<A>;
}

export type ColumnProperty<Change extends string, Values> = ColumnEntry<Alteration<Change, Values>>;

/** The ALTER COLUMN that sets a property. */
interface ColumnAlter<A extends Alteration<string, object>>
  extends Pick<PropertyAlter<Column, A>, 'actions' | 'print' | 'permission'> {
  /** Whether a materialized view has it too. */
  readonly isOfViews?: boolean;
  /** By its first word, how the rest is parsed. */
  readonly syntax: Readonly<Record<string, (cursor: Cursor, lookup: NameLookup, altered: AlteredColumn) => A>>;
  /** The column after it. */
  apply(column: Column, alteration: A): Column;
  /** Finds those that make a column the wanted one in this property. */
  find(wanted: Column, now: Column): readonly A[];
}

/** A column that an ALTER names. */
export interface AlteredColumn {
  readonly object: KnownObject;
  /** The name as written. */
  readonly name: string;
  /** Undefined if the columns of the object are not known. */
  readonly column: Column | undefined;
  /** Where rejections of the column point. */
  readonly position: number;
  /** Where those of the object point. */
  readonly objectPosition: number;
}

/** Requires that an altered column is a symbol. @param what the start of the server's message */
export function requireSymbol({ name, column, position }: AlteredColumn, what: string): void {
  if (!column || column.type === 'SYMBOL') return;
  throw new RejectionError(position, `${what} only supported for symbol type [column=${name}, type=${column.type}]`);
}

/** Requires the end of an ALTER of a table. That of a view ends as any other statement does. */
export function expectEndWhile(cursor: Cursor, { object }: AlteredColumn, doing: string): void {
  if (object.kind !== 'table') return;
  const token = cursor.next();
  if (token === undefined) return;
  if (token === ';') return cursor.expectEnd();
  throw cursor.rejection(`unexpected token [${token}] while trying ${doing}`);
}
