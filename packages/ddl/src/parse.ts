/*! Statements to definitions. */
import { isSameName } from '@sqlpipe/sql';
import {
  type Column,
  DEFAULTS,
  type Defaults,
  type Definition,
  type PartitionUnit,
  type TableDefinition,
} from './definition.js';
import type { CreateMaterializedView } from './grammar/create-materialized-view.js';
import type { CreateTable } from './grammar/create-table.js';
import { Cursor } from './grammar/cursor.js';
import { parseOwner } from './grammar/dialect.js';
import { featuresOf } from './grammar/features.js';
import { AFTER_CREATE, type CreateStatement, parseCreate } from './grammar/parse-create.js';
import { resolveRefresh } from './properties/refresh.js';
import { findSampling } from './sampling.js';

/**
 * Parses the CREATE statement of a table, view, materialized view or live view, in any edition.
 *
 * @param statement one statement, with or without `;`
 * @param defaults what the target server fills in if the statement omits it
 * @throws RejectionError with the server's message and position (UTF-16 code units) if the statement is anything else
 */
export function parseDefinition(statement: string, defaults: Defaults = DEFAULTS): Definition {
  const cursor = new Cursor(statement);
  cursor.expect('create');
  return toDefinition(
    parseCreate(cursor, cursor.require(AFTER_CREATE), {
      enterprise: true,
      has: featuresOf(undefined),
      owner: parseOwner,
      defaults,
      checkQuery() {},
    }),
  );
}

function toDefinition(statement: CreateStatement): Definition {
  switch (statement.statement) {
    case 'create table':
      return toTableDefinition(statement);
    case 'create view': {
      const { name, body, owner } = statement;
      return { kind: 'view', name, body: body.text, owner };
    }
    case 'create materialized view':
      return toMaterializedView(statement);
    default: {
      const { name, flush, inMemory, partition, ttl, start, body, owner } = statement;
      const stored = { partitionBy: partition, ttl: ttl?.age ?? 0 };
      return { kind: 'live view', name, flush, inMemory, ...stored, start, body: body.text, owner };
    }
  }
}

/** The definition in a CREATE TABLE statement. LIKE is not resolved, and columns of a query are not added. */
export function toTableDefinition(statement: CreateTable): TableDefinition {
  const { name, columns, timestamp, partition, ttl, policy, wal, parquet, volume, owner, like, select } = statement;
  const { maxUncommittedRows, o3MaxLag } = statement;
  const timestampName = timestamp && (columns.find(timestamp.name)?.name ?? timestamp.name);
  return {
    kind: 'table',
    name,
    columns: [...columns.values()].map(column => addTimestampToIndex(column, timestampName)),
    timestamp: timestampName,
    partitionBy: partition?.unit ?? 'NONE',
    ...{ ttl, policy, wal, parquet, volume: volume?.name, maxUncommittedRows, o3MaxLag, owner },
    like: like?.name,
    query: select?.text,
  };
}

/** Adds the designated timestamp to the columns that a posting index covers: the server does the same. */
export function addTimestampToIndex(column: Column, timestamp: string | undefined): Column {
  const { index } = column;
  if (!timestamp || !index || index.capacity !== undefined || index.covered.length === 0) return column;
  const covered = index.covered.some(name => isSameName(name, timestamp));
  return covered ? column : { ...column, index: { ...index, covered: [...index.covered, timestamp] } };
}

function toMaterializedView(statement: CreateMaterializedView): Definition {
  const { name, base, refresh, body, indexes, timestamp, partition, ttl, expire, volume, owner } = statement;
  const sampling = partition ? undefined : findSampling(body.text);
  return {
    kind: 'materialized view',
    name,
    base: base?.name,
    refresh: resolveRefresh(refresh, body.text),
    body: body.text,
    partitionBy: partition ?? (sampling && defaultPartition(sampling.interval)),
    ttl: ttl?.age ?? 0,
    ...(expire !== undefined && { expire }),
    timestamp: timestamp?.name,
    indexes,
    volume: volume?.name,
    owner,
  };
}

const SECONDS: Readonly<Record<string, number>> = { n: 1e-9, U: 1e-6, T: 1e-3, s: 1, m: 60, h: 3600 };

/**
 * The default partitioning of a materialized view: YEAR if its sampling interval is more than an hour, MONTH if more than
 * a minute, otherwise DAY (QuestDB's source, CreateMatViewOperationImpl).
 */
export function defaultPartition(interval: string): PartitionUnit {
  const count = Number.parseInt(interval, 10) || 1;
  const seconds = count * (SECONDS[interval.slice(-1)] ?? 86_400);
  return seconds > 3600 ? 'YEAR' : seconds > 60 ? 'MONTH' : 'DAY';
}
