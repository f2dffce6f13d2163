/*! The objects of the catalog: definitions, and what was found out when they were created. */
import type {
  Column,
  LiveViewDefinition,
  MaterializedViewDefinition,
  TableDefinition,
  ViewDefinition,
} from '@sqlpipe/ddl';
import type { PartitionUnit, Ttl } from '@sqlpipe/ddl/grammar';

export interface Table extends TableDefinition {
  /** How often columns came and went: one rejection tells it. */
  readonly structure?: number;
}

/** What is known of a query's result. */
interface QueryResult {
  readonly columns: Column[];
  /** The name of the designated timestamp. */
  readonly timestamp?: string | undefined;
}

export interface View extends ViewDefinition, QueryResult {
  /** Tables, views and materialized views that the body names, as they are called in the catalog. */
  readonly references: readonly string[];
  /** Why the body can no longer be run, and where in it that is. */
  readonly invalid?: { readonly reason: string; readonly position: number };
}

export interface MaterializedView extends MaterializedViewDefinition {
  readonly columns: Column[];
  readonly base: string;
  readonly partitionBy: PartitionUnit;
  /** The bucket that the query samples by. */
  readonly interval: string;
  readonly references: readonly string[];
  /** Why it is refreshed no more. */
  readonly invalid?: string;
}

export interface LiveView extends LiveViewDefinition, QueryResult {
  readonly base: string;
  readonly partitionBy: PartitionUnit;
  readonly ttl: Ttl;
}

export type CatalogObject = Table | View | MaterializedView | LiveView;
