/*! The objects of the catalogue: their definitions, and what was derived from their queries. */
import type {
  Column,
  LiveViewDefinition,
  MaterializedViewDefinition,
  TableDefinition,
  ViewDefinition,
} from '@sqlpipe/ddl';
import type { PartitionUnit } from '@sqlpipe/ddl/grammar';
import { foldCase } from '@sqlpipe/sql';

/** A number that an object or a column of a table keeps under any name; another one of the same name has another number. */
interface Identified {
  readonly id?: number;
}

/** A column of a table or a view. */
export interface StoredColumn extends Column, Identified {
  /** Whether the type of a column of a view is a guess. */
  readonly isGuess?: boolean;
}

/** A table. */
export interface Table extends TableDefinition, Loaded {
  readonly columns: StoredColumn[];
  /** How often the columns were added, dropped or renamed: one error message contains this number. */
  readonly structure?: number;
  /** Whether the server accepts changes and does not apply them, until RESUME WAL. */
  readonly isSuspended?: boolean;
}

/** What may be missing of an object that was loaded from its statement. */
interface Loaded extends Identified {
  /** Whether nothing was derived from the query yet. */
  readonly isLoaded?: boolean;
  /** The statement of an object whose syntax or query is unknown: what reads from it may find any column there. */
  readonly opaque?: string;
}

/** The known properties of a query's result. */
interface QueryResult extends Loaded {
  readonly columns: StoredColumn[];
  /** The name of the designated timestamp. */
  readonly timestamp?: string | undefined;
}

/** A view, with what its query returns. */
export interface View extends ViewDefinition, QueryResult {
  /** Tables, views and materialized views that the body refers to, as the catalogue spells them. */
  readonly references: readonly string[];
  /** Why the body can no longer be executed, and the position of the error in the body. */
  readonly invalid?: { readonly reason: string; readonly position: number };
  /** What the view read when its query was stated, in lower case, also through other views; undefined if it was not compiled then. */
  readonly sources?: readonly string[];
  /** Whether it reads from something else since then: the server rejects each query of it, until its query is stated again. */
  readonly isStale?: boolean;
}

/** A materialized view, with what its query returns. */
export interface MaterializedView extends MaterializedViewDefinition, Loaded {
  readonly columns: StoredColumn[];
  readonly base: string;
  readonly partitionBy: PartitionUnit;
  /** The bucket that the query samples by. */
  readonly interval: string;
  readonly references: readonly string[];
  /** Why the view is no longer refreshed. */
  readonly invalid?: string;
  /** Whether it has no rows yet: a change of its base does not make it invalid. */
  readonly neverRefreshed?: boolean;
  /** Whether it has rows of a refresh of a range only. */
  readonly partlyRefreshed?: boolean;
  /** If the types of some columns are a guess: all that the query could read when the view was made. */
  readonly inputs?: readonly string[] | undefined;
}

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
  readonly references: readonly string[];
  /** Why the view is no longer updated. It stays so: only another view in its place is updated again. */
  readonly invalid?: string;
}

/** A table or a view of any kind. */
export type CatalogueObject = Table | View | MaterializedView | LiveView;

/** The names that an object refers to. */
export const referencesOf = (object: CatalogueObject): readonly string[] =>
  'references' in object ? object.references : [];
