/*! The objects of the catalogue: their definitions, and what was derived from their queries. */
import type {
  Column,
  LiveViewDefinition,
  MaterializedViewDefinition,
  PartitionUnit,
  TableDefinition,
  ViewDefinition,
} from '@sqlpipe/ddl';
import { foldCase } from '@sqlpipe/sql';

/** What has an id. Renaming does not change the id of an object or a column; a recreated one of the same name has another id. */
interface Identified {
  readonly id?: number;
}

/** A column of a table or a view. */
export interface StoredColumn extends Column, Identified {
  /** Whether the type is a guess: the engine does not know what the query of the view returns. */
  readonly isGuess?: boolean;
}

/** A table. */
export interface Table extends TableDefinition, Loaded {
  readonly columns: StoredColumn[];
  /** How often a column was added, dropped or renamed: one error message contains this number. */
  readonly structure?: number;
  /** Whether the server accepts changes and does not apply them, until RESUME WAL. */
  readonly isSuspended?: boolean;
}

/** A column of a table, and the column of the same id in the table later; undefined if the column is gone. */
export interface ColumnPair {
  readonly column: StoredColumn;
  readonly now: StoredColumn | undefined;
}

/** Pairs the columns of a table before and after changes. New columns are in no pair. */
export function pairColumns(before: Table, after: Table): ColumnPair[] {
  const byId = new Map(after.columns.map(column => [column.id, column]));
  return before.columns.map(column => ({ column, now: byId.get(column.id) }));
}

interface Loaded extends Identified {
  readonly isUncompiled?: boolean;
  /** The statement of an object whose syntax or query is unknown. It may have any column that a view reads from it. */
  readonly opaque?: string;
}

interface QueryResult extends Loaded {
  readonly columns: StoredColumn[];
  readonly timestamp?: string | undefined;
  /** Tables, views and materialized views that the body refers to, as the catalogue spells them. */
  readonly references: readonly string[];
}

/** A view, with what its query returns. */
export interface View extends ViewDefinition, QueryResult {
  /** Why the server rejects the body, and the position of the error in it. */
  readonly invalid?: { readonly reason: string; readonly position: number };
  /** What the view read when its query was stated, also through other views, in lower case; undefined if it was not compiled then. */
  readonly sources?: readonly string[];
  /** Whether it reads from something else now. The server rejects queries on it until its own query is stated again. */
  readonly isStale?: boolean;
}

/** A materialized view, with what its query returns. */
export interface MaterializedView extends MaterializedViewDefinition, QueryResult {
  readonly base: string;
  readonly partitionBy: PartitionUnit;
  readonly interval: string;
  readonly invalid?: string;
  /** Whether a server still reports the view as valid. */
  readonly isInvalidEarly?: boolean;
  /** Whether it has no rows yet: a change of its base does not make it invalid. */
  readonly neverRefreshed?: boolean;
  /** Whether it has rows of a refresh of a range only. */
  readonly partlyRefreshed?: boolean;
  /** All that the query could read when the view was created, see `inputsOf`; undefined if the types of all columns are known. */
  readonly inputs?: readonly string[] | undefined;
}

/** Whether the types of all columns are known, and none is a guess. */
export const areTypesKnown = (columns: readonly StoredColumn[]): boolean => columns.every(({ isGuess }) => !isGuess);

/** A column of a materialized view. The view does not cache its symbols (observed on 9.3.4), and INDEX names some of them. */
export function toStoredColumn(
  { name, type, isGuess }: Pick<StoredColumn, 'name' | 'type' | 'isGuess'>,
  { indexes }: IndexClause,
): StoredColumn {
  const capacity = indexes?.get(foldCase(name));
  const column = { name, type, cached: type !== 'SYMBOL', dedup: false, ...(isGuess && { isGuess }) };
  return capacity === undefined ? column : { ...column, index: { type: 'BITMAP', capacity } };
}

type IndexClause = Pick<MaterializedViewDefinition, 'indexes'>;

/** A live view, with what its query returns. */
export interface LiveView extends LiveViewDefinition, QueryResult {
  readonly base: string;
  readonly partitionBy: PartitionUnit;
  /** Why the view is no longer updated. Nothing repairs it: it has to be dropped and created. */
  readonly invalid?: string;
}

/** A table or a view of any kind. */
export type CatalogueObject = Table | View | MaterializedView | LiveView;

export const referencesOf = (object: CatalogueObject): readonly string[] =>
  'references' in object ? object.references : [];
