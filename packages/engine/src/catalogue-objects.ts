import type {
  Column,
  LiveViewDefinition,
  MaterializedViewDefinition,
  PartitionUnit,
  TableDefinition,
  ViewDefinition,
} from '@sqlpipe/ddl';

/** A column of a table or a view. */
export interface StoredColumn extends Column {
  /** A renamed column keeps its id. A recreated column of the same name has another id. */
  readonly id?: number;
  /** Whether the type is a guess: the engine does not know what the query of the view returns. */
  readonly isGuess?: boolean;
}

/** A table, with what is known besides its definition. */
export interface Table extends TableDefinition, CatalogueEntry {
  readonly columns: StoredColumn[];
  /** Number of ALTER TABLE statements that added, dropped or renamed columns. One error message contains it. */
  readonly structureVersion?: number;
  /** Whether the server accepts changes and does not apply them, until RESUME WAL. */
  readonly isSuspended?: boolean;
}

export type ColumnPair = ReturnType<typeof pairColumns>[number];

/** Pairs columns by their id. `current` is undefined for a column that is gone. New columns are in no pair. */
export function pairColumns(before: Table, after: Table) {
  const byId = new Map(after.columns.map(column => [column.id, column]));
  return before.columns.map(column => ({ column, current: byId.get(column.id) }));
}

interface CatalogueEntry {
  /** A renamed table keeps its id. A recreated object of the same name has another id. */
  readonly id?: number;
  readonly isUncompiled?: boolean;
  /** The statement, if its syntax or query is unknown. The object may have any column that a view reads from it. */
  readonly opaqueStatement?: string;
}

interface QueryResult extends CatalogueEntry {
  readonly columns: StoredColumn[];
  readonly timestamp?: string | undefined;
  /** Tables and views of any kind that the query names. */
  readonly references: readonly string[];
}

/** A plain view, with what its query returns. */
export interface View extends ViewDefinition, QueryResult {
  /** Why the server rejects the query, and the position of the error in it. */
  readonly rejection?: { readonly reason: string; readonly position: number };
  /**
   * The tables and stored views that the view read when its query was last stated or loaded. They may be missing. The list of a view that
   * was stale when it was loaded is empty, because only its own statement repairs it.
   */
  readonly sources?: readonly string[];
  /** Whether the view now reads a source that is not in `sources`. A server rejects queries on it until ALTER VIEW repeats its query. */
  readonly isStale?: boolean;
}

/** A materialized view, with what its query returns. */
export interface MaterializedView extends MaterializedViewDefinition, QueryResult {
  readonly base: string;
  readonly partitionBy: PartitionUnit;
  readonly invalidReason?: string;
  /** Whether the view is invalid here while a server still reports the view as valid, see `invalidateUnrefreshable`. */
  readonly isInvalidEarly?: boolean;
  /** Whether the view has no rows yet. Then a change of its base does not make the view invalid. */
  readonly wasNeverRefreshed?: boolean;
  /** Whether a server had not begun to fill the view when it was loaded. */
  readonly isUnstarted?: boolean;
  /** Whether only a range of the view was refreshed. */
  readonly isPartlyRefreshed?: boolean;
  /** What the query could read when the view was created or loaded, see `listReadableColumns`. */
  readonly readableColumns?: readonly string[] | undefined;
}

/** Whether no type is a guess. */
export const areTypesKnown = (columns: readonly StoredColumn[]): boolean => columns.every(({ isGuess }) => !isGuess);

/** A materialized view does not cache its symbols (observed on 9.3.4). */
export function toStoredColumn(
  { name, type, isGuess }: Pick<StoredColumn, 'name' | 'type' | 'isGuess'>,
  { indexes }: Pick<MaterializedViewDefinition, 'indexes'>,
): StoredColumn {
  const capacity = indexes?.get(name);
  const column = { name, type, cached: type !== 'SYMBOL', dedup: false, ...(isGuess && { isGuess }) };
  return capacity === undefined ? column : { ...column, index: { type: 'BITMAP', capacity } };
}

/** A live view, with what its query returns. */
export interface LiveView extends LiveViewDefinition, QueryResult {
  readonly base: string;
  readonly partitionBy: PartitionUnit;
  /** Why the view is no longer updated. Only DROP and CREATE repair that. */
  readonly invalidReason?: string;
}

/** A table or a view of any kind. */
export type CatalogueObject = Table | View | MaterializedView | LiveView;

export const isPlainView = (object: CatalogueObject | undefined): object is View => object?.kind === 'view';

export type References = Pick<MaterializedView, 'base' | 'references'>;

/** What the query of a view names, and the base of a stored view. The query may read the base only through a plain view. */
export const referencesOf = (object: CatalogueObject | References): readonly string[] => [
  ...('base' in object ? [object.base] : []),
  ...('references' in object ? object.references : []),
];
