/*! The objects of the catalog: their definitions, and what was derived from their queries. */
import type {
  Column,
  LiveViewDefinition,
  MaterializedViewDefinition,
  TableDefinition,
  ViewDefinition,
} from '@sqlpipe/ddl';
import type { PartitionUnit, Ttl } from '@sqlpipe/ddl/grammar';

export interface Table extends TableDefinition {
  /** How often the columns were added, dropped or renamed: one error message contains this number. */
  readonly structure?: number;
}

/** The known properties of a query's result. */
interface QueryResult {
  readonly columns: Column[];
  /** The name of the designated timestamp. */
  readonly timestamp?: string | undefined;
}

export interface View extends ViewDefinition, QueryResult {
  /** Tables, views and materialized views that the body refers to, as the catalog spells them. */
  readonly references: readonly string[];
  /** Why the body can no longer be executed, and the position of the error in the body. */
  readonly invalid?: { readonly reason: string; readonly position: number };
}

export interface MaterializedView extends MaterializedViewDefinition {
  readonly columns: Column[];
  readonly base: string;
  readonly partitionBy: PartitionUnit;
  /** The bucket that the query samples by. */
  readonly interval: string;
  readonly references: readonly string[];
  /** Why the view is no longer refreshed. */
  readonly invalid?: string;
}

export interface LiveView extends LiveViewDefinition, QueryResult {
  readonly base: string;
  readonly partitionBy: PartitionUnit;
  readonly ttl: Ttl;
}

export type CatalogObject = Table | View | MaterializedView | LiveView;
