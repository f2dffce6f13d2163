/*!
 * What a statement means: the object that a server makes of it. Whatever a statement may leave open, and no server can
 * always tell afterwards, is optional here.
 */
import type { PartitionUnit, Ttl } from './grammar/partition.js';
import type { StoragePolicy } from './grammar/storage-policy.js';

/** An index of a symbol column: the classic one by blocks, or one of the posting kinds with the columns it covers. */
export type Index =
  | { readonly type: 'BITMAP'; readonly capacity: number }
  | { readonly type: string; readonly covered: readonly string[]; readonly capacity?: undefined };

/** A column of a table. */
export interface Column {
  name: string;
  /** As printed: `INT`, `DOUBLE[]`, `GEOHASH(5c)`. */
  type: string;
  /** Symbols only: whether values are cached. */
  cached: boolean;
  /** Symbols only: the capacity asked for, a power of two. Servers from 9.3 on change it by themselves and do not print it. */
  capacity?: number;
  dedup: boolean;
  index?: Index;
  /** What stands in `PARQUET(…)`; empty where nothing was asked for. */
  parquet?: string;
}

/** What tables and materialized views have in common: both are stored. */
interface StoredDefinition {
  readonly name: string;
  readonly ttl: Ttl;
  /** The alias of the volume it is stored in. */
  readonly volume?: string | undefined;
  /** Enterprise: who owns it. */
  readonly owner?: string | undefined;
}

/** What a CREATE TABLE says. */
export interface TableDefinition extends StoredDefinition {
  readonly kind: 'table';
  readonly columns: Column[];
  /** The name of the designated timestamp. */
  readonly timestamp?: string | undefined;
  readonly partitionBy: PartitionUnit;
  readonly wal: boolean;
  /** Whether new partitions are written as Parquet. */
  readonly parquet: boolean;
  /** Enterprise: what stands in the place of a time to live. */
  readonly policy?: StoragePolicy | undefined;
  readonly maxUncommittedRows?: number | undefined;
  /** In microseconds. */
  readonly o3MaxLag?: number | undefined;
  /** The table that it is made like: then nothing else is known but the name and the owner. */
  readonly like?: string | undefined;
  /** The query that it is made from: then the columns are those that clauses of the statement name, in no order. */
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
  /** `10m` after EVERY. */
  readonly every?: string | undefined;
  /** An ISO timestamp, microseconds; the moment of creation where EVERY has none. */
  readonly start?: string | undefined;
  readonly timeZone?: string | undefined;
  readonly period?: { readonly length: string; readonly delay?: string | undefined } | undefined;
}

/** A query whose result is kept and refreshed. */
export interface MaterializedViewDefinition extends StoredDefinition {
  readonly kind: 'materialized view';
  /** The table that it follows. */
  readonly base?: string | undefined;
  readonly refresh: Refresh;
  readonly body: string;
  readonly partitionBy?: PartitionUnit | undefined;
  /** The designated timestamp, where it is named. No server prints it. */
  readonly timestamp?: string | undefined;
  /** Columns named by INDEX, in lower case, with the capacity. No server prints them. */
  readonly indexes?: ReadonlyMap<string, number> | undefined;
}

/** A query over one table, kept up to date as rows come. */
export interface LiveViewDefinition {
  readonly kind: 'live view';
  readonly name: string;
  /** `5s` after FLUSH EVERY. */
  readonly flush?: string | undefined;
  /** `1h` after IN MEMORY. */
  readonly inMemory?: string | undefined;
  /** By default that of the base table. */
  readonly partitionBy?: PartitionUnit | undefined;
  /** What stands after START FROM. */
  readonly start: string;
  readonly body: string;
  readonly owner?: string | undefined;
}

/** What a CREATE of an object says. */
export type Definition = TableDefinition | ViewDefinition | MaterializedViewDefinition | LiveViewDefinition;

/** What a server fills in where a statement says nothing, by the names of its SHOW PARAMETERS. */
export interface Defaults {
  /** `cairo.wal.enabled.default` */
  readonly wal: boolean;
  /** `cairo.default.symbol.cache.flag` */
  readonly symbolCached: boolean;
  /** `cairo.index.value.block.size` */
  readonly indexCapacity: number;
}

/** What a server fills in whose configuration does not say another. */
export const DEFAULTS: Defaults = { wal: true, symbolCached: true, indexCapacity: 256 };
