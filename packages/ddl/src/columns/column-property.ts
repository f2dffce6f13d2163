import type { Column } from '../definition.js';
import { type Cursor, RejectionError } from '../parser/cursor.js';
import type { KnownObject, NameLookup } from '../parser/lookup.js';
import type { Property, PropertyAlter } from '../property.js';

/** What a statement states about a column. For a column of a query, `type` may be empty, and `cached` may be missing. */
export type StatedColumn = Omit<Column, 'name' | 'dedup' | 'cached'> & { readonly cached?: boolean };

/** The action of an ALTER COLUMN: `{ action: 'cache', column: 's', cached: true }`, with the name as written. */
type ColumnAction<Action, Values> = { readonly action: Action; readonly column: string } & Readonly<Values>;

/** A property of a column. `column 'qty' index` has the suffix ` index`; the type has an empty one, as in `column 'qty'`. */
export interface ColumnPropertyOf<A extends ColumnAction<string, object>>
  extends Pick<Property<StatedColumn>, 'value' | 'print' | 'isHidden' | 'features' | 'unalterable'> {
  readonly suffix: string;
  readonly alter: Pick<PropertyAlter<Column, A>, 'actions' | 'print' | 'permissions' | 'permission'> & {
    readonly worksOnViews?: boolean;
    /** The parsers of the text after its first word, by this word. */
    readonly syntax: Readonly<Record<string, (cursor: Cursor, lookup: NameLookup, altered: AlteredColumn) => A>>;
    apply(column: Column, alteration: A): Column;
    between(wanted: Column, current: Column): readonly A[];
  };
}

export type ColumnProperty<Action extends string, Values> = ColumnPropertyOf<ColumnAction<Action, Values>>;

export interface AlteredColumn {
  readonly object: KnownObject;
  readonly name: string;
  /** Undefined if the columns of the object are not known. */
  readonly column: Column | undefined;
  readonly position: number;
  readonly objectPosition: number;
}

/** Requires that an altered column is a symbol. @param what the start of the server's message */
export function requireSymbol({ name, column, position }: AlteredColumn, what: string): void {
  if (!column || column.type === 'SYMBOL') return;
  throw new RejectionError(position, `${what} only supported for symbol type [column=${name}, type=${column.type}]`);
}

/** Requires the end of an ALTER TABLE. For a view, the caller does that, with another message. */
export function expectEndOfAlter(cursor: Cursor, { object }: AlteredColumn, doing: string): void {
  if (object.kind !== 'table') return;
  const token = cursor.next();
  if (token === undefined) return;
  if (token === ';') return cursor.expectEnd();
  throw cursor.error(`unexpected token [${token}] while trying ${doing}`);
}
