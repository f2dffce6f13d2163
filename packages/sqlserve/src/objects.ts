/*! What a catalogue holds: tables, views, materialized views and live views, as the service describes them. */
import type { PartitionUnit, Ttl } from './parser/partition.js';
import type { StoragePolicy } from './parser/storage-policy.js';

/** An index over a symbol column: the classic one by blocks, or one of the posting kinds with the columns it covers. */
export type Index =
  | { readonly type: 'BITMAP'; readonly capacity: number }
  | { readonly type: string; readonly covered: readonly string[]; readonly capacity?: undefined };

export interface Column {
  name: string;
  /** As printed: `INT`, `DOUBLE[]`, `GEOHASH(5c)`. */
  type: string;
  /** Symbols only: whether values are cached. */
  cached: boolean;
  dedup: boolean;
  index?: Index;
  /** What stands in `PARQUET(…)`; empty where nothing was asked for. */
  parquet?: string;
}

/** What tables, materialized views and live views have in common: all are stored. */
interface Stored {
  readonly name: string;
  readonly columns: Column[];
  /** The name of the designated timestamp. */
  readonly timestamp?: string | undefined;
  readonly partitionBy: PartitionUnit;
  readonly ttl: Ttl;
  /** Enterprise: who owns it. */
  readonly owner?: string | undefined;
}

export interface Table extends Stored {
  readonly kind: 'table';
  readonly wal: boolean;
  readonly parquet: boolean;
  /** Enterprise: what stands in the place of a time to live. */
  readonly policy?: StoragePolicy | undefined;
  /** How often columns came and went: one refusal tells it. */
  readonly structure?: number;
}

/** A query with a name. Nothing is stored but its text, and what was found out about it when it was made. */
export interface View {
  readonly kind: 'view';
  readonly name: string;
  readonly body: string;
  readonly columns: Column[];
  readonly timestamp?: string | undefined;
  /** Tables, views and materialized views that the body names, as they are called in the catalogue. */
  readonly references: readonly string[];
  readonly owner?: string | undefined;
  /** Why the body can no longer be run, and where in it that is. */
  readonly invalid?: { readonly reason: string; readonly position: number };
}

export interface Refresh {
  readonly type: 'IMMEDIATE' | 'MANUAL' | 'EVERY';
  readonly deferred: boolean;
  /** `10m` behind EVERY. */
  readonly every?: string | undefined;
  /** An ISO timestamp, microseconds. */
  readonly start?: string | undefined;
  readonly timeZone?: string | undefined;
  readonly period?: { readonly length: string; readonly delay?: string | undefined } | undefined;
}

export interface MaterializedView extends Stored {
  readonly kind: 'materialized view';
  readonly base: string;
  /** The bucket that the query samples by. */
  readonly interval: string;
  readonly refresh: Refresh;
  readonly body: string;
  readonly references: readonly string[];
  /** Why it is refreshed no more. */
  readonly invalid?: string;
}

/** A query over one table, kept up to date as rows come. */
export interface LiveView extends Stored {
  readonly kind: 'live view';
  readonly base: string;
  /** `5s` behind FLUSH EVERY. */
  readonly flush?: string | undefined;
  /** `1h` behind IN MEMORY. */
  readonly inMemory?: string | undefined;
  /** What stands behind START FROM. */
  readonly start: string;
  readonly body: string;
}

export type CatalogueObject = Table | View | MaterializedView | LiveView;
