/*! A field is optional if a statement may omit it and a server cannot always show it. */
import type { NameMap } from '@sqlpipe/sql';

export const PARTITION_UNITS = ['HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR', 'NONE'] as const;

/** The size of a table's partitions; `NONE` for no partitions. */
export type PartitionUnit = (typeof PARTITION_UNITS)[number];

/** If a view has no PARTITION BY, its partitions may depend on its base and are not known. They are assumed to be by day. */
export const ASSUMED_PARTITION: PartitionUnit = 'DAY';

/** A time to live as the server stores it: a positive number of hours, a negative number of months, or 0 for none. */
export type Age = number;

/** The stages of a partition, in the order of a policy. */
export const STORAGE_STAGES = ['TO PARQUET', 'TO REMOTE', 'DROP LOCAL', 'DROP REMOTE'] as const;

/** The age at which a partition reaches each stage. A disabled policy is stored but not printed. */
export interface StoragePolicy {
  readonly after: { readonly [stage in (typeof STORAGE_STAGES)[number]]?: Age };
  readonly disabled?: boolean;
}

/** An index of a symbol column: BITMAP with a block capacity, or a posting index with the columns that it covers. */
export type Index =
  | { readonly type: 'BITMAP'; readonly capacity: number }
  | { readonly type: string; readonly covered: readonly string[]; readonly capacity?: undefined };

/** A column of a table. */
export interface Column {
  name: string;
  /** As printed: `INT`, `DOUBLE[]`, `GEOHASH(5c)`. */
  type: string;
  /** Symbols only. */
  cached: boolean;
  /** Symbols only: the requested capacity, a power of two. Servers from 9.3 on adjust it themselves and do not print it. */
  capacity?: number;
  dedup: boolean;
  index?: Index;
  /** The text in `PARQUET(…)`; empty if no settings were requested. */
  parquet?: string;
}

interface StoredDefinition {
  readonly name: string;
  readonly ttl: Age;
  readonly volume?: string | undefined;
  readonly owner?: string | undefined;
}

/** The definition in a CREATE TABLE statement. */
export interface TableDefinition extends StoredDefinition {
  readonly kind: 'table';
  readonly columns: Column[];
  readonly timestamp?: string | undefined;
  readonly partitionBy: PartitionUnit;
  readonly wal: boolean;
  /** Whether new partitions are written as Parquet. */
  readonly isParquet: boolean;
  /** Enterprise only. */
  readonly policy?: StoragePolicy | undefined;
  readonly maxUncommittedRows?: number | undefined;
  /** In microseconds. */
  readonly o3MaxLag?: number | undefined;
  /** The table after LIKE. If it is present, only the name and the owner of this definition have a meaning. */
  readonly like?: string | undefined;
  /** The query after AS. If it is present, `columns` contains only the columns that other clauses name, in no order. */
  readonly query?: string | undefined;
}

/** A query with a name. */
export interface ViewDefinition {
  readonly kind: 'view';
  readonly name: string;
  readonly body: string;
  readonly owner?: string | undefined;
}

/** When a materialized view is refreshed. */
export interface Refresh {
  readonly type: 'IMMEDIATE' | 'MANUAL' | 'EVERY';
  readonly deferred: boolean;
  /** The interval after EVERY: `10m`. */
  readonly every?: string | undefined;
  /** An ISO timestamp with microseconds. If EVERY has none, it starts at the moment of creation. */
  readonly start?: string | undefined;
  readonly timeZone?: string | undefined;
  /** `sample by interval`: the length is the sampling interval of the query. A definition has it only if the interval is not known. */
  readonly period?: { readonly length: string; readonly delay?: string | undefined } | 'sample by interval' | undefined;
}

/** A query whose result is stored and refreshed. */
export interface MaterializedViewDefinition extends StoredDefinition {
  readonly kind: 'materialized view';
  readonly base?: string | undefined;
  readonly refresh: Refresh;
  readonly body: string;
  readonly partitionBy?: PartitionUnit | undefined;
  readonly expire?: string | undefined;
  /** Present if the statement names the designated timestamp. No server prints it. */
  readonly timestamp?: string | undefined;
  /** The capacities of the columns in INDEX. No server prints them. */
  readonly indexes?: NameMap<number> | undefined;
}

/** A query over one table whose result is updated with each new row. */
export interface LiveViewDefinition {
  readonly kind: 'live view';
  readonly name: string;
  readonly flush: string;
  /** The time after IN MEMORY: `1h`. By default the interval after FLUSH EVERY. */
  readonly inMemory: string;
  /** By default the partitioning of the base table. */
  readonly partitionBy?: PartitionUnit | undefined;
  readonly ttl: Age;
  readonly start: string;
  readonly body: string;
  readonly owner?: string | undefined;
}

/** The definition in a CREATE statement of an object. */
export type Definition = TableDefinition | ViewDefinition | MaterializedViewDefinition | LiveViewDefinition;

/** The values that a server fills in if a statement omits them, with their names in SHOW PARAMETERS. */
export interface Defaults {
  /** `cairo.wal.enabled.default` */
  readonly wal: boolean;
  /** `cairo.default.symbol.cache.flag` */
  readonly symbolCached: boolean;
  /** `cairo.index.value.block.size` */
  readonly indexCapacity: number;
  /** `cairo.live.view.in.memory.max`, in microseconds */
  readonly maxInMemory: number;
}

/** The capacity of a symbol, and of an index, on a server without any configuration. */
export const DEFAULT_CAPACITY = 256;

/** The values that a server without any configuration fills in. */
export const SERVER_DEFAULTS: Defaults = {
  wal: true,
  symbolCached: true,
  indexCapacity: DEFAULT_CAPACITY,
  maxInMemory: 3_600_000_000,
};
