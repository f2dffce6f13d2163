/*! CREATE MATERIALIZED VIEW, check by check in the order of the service's own parser. */
import { foldCase } from '@sqlpipe/sql';
import { type Body, endBody, viewBody } from './body.js';
import { parseIndexCapacity } from './columns.js';
import { inVolume } from './create-table.js';
import type { Cursor } from './cursor.js';
import { is } from './cursor.js';
import type { Dialect } from './dialect.js';
import { ifNotExists, type LocatedName, literal, objectName, rejectReserved, stripPublic, unquote } from './names.js';
import { type PartitionUnit, partitionBy, partitionUnit, rejectUnevenTtl, type Ttl, ttl } from './partition.js';
import { type RefreshClause, refreshClause } from './refresh.js';
import { Rejection, unexpected } from './rejection.js';

export interface CreateMaterializedView {
  readonly statement: 'create materialized view';
  readonly name: string;
  readonly position: number;
  readonly ifNotExists: boolean;
  /** The table to follow, where it is named or somebody who understands queries found it. */
  readonly base?: LocatedName | undefined;
  readonly refresh: RefreshClause;
  readonly body: Body;
  /** Columns named by INDEX, with the capacity asked for. */
  readonly indexes: ReadonlyMap<string, number>;
  readonly timestamp?: LocatedName | undefined;
  readonly partition?: PartitionUnit | undefined;
  readonly ttl?: { readonly ttl: Ttl; readonly position: number } | undefined;
  readonly volume?: LocatedName | undefined;
  readonly owner?: string | undefined;
}

/** Finds the base table of a query, and refuses what the service's parser refuses before it reads on. */
export type BaseOf = (body: Body, given: LocatedName | undefined) => LocatedName;

/** After CREATE MATERIALIZED. */
export function createMaterializedView(cursor: Cursor, dialect: Dialect): CreateMaterializedView {
  cursor.expect('view');
  const named = ifNotExists(cursor, cursor.require("view name or 'if'"), 'view name');
  const { name, position } = objectName(cursor, named.token);

  let token = cursor.require("'as' or 'with' or 'refresh'");
  const given = is(token, 'with') ? withBase(cursor) : undefined;
  if (given) token = cursor.require("'as' or 'refresh'");
  const refreshGiven = is(token, 'refresh');
  const refresh = refreshClause(cursor, token);
  if (!is(refresh.token, 'as')) {
    throw new Rejection(cursor.at, refreshGiven ? "'as' expected" : "'refresh' or 'as' expected");
  }
  const body = viewBody(cursor, dialect.checkQuery);
  const base = dialect.baseOf ? dialect.baseOf(body, given) : given;
  endBody(cursor, body);
  const head = { statement: 'create materialized view', name, position, ifNotExists: named.ifNotExists } as const;
  const view = { ...head, base, refresh: refresh.clause, body };
  return body.enclosed ? { ...view, ...clauses(cursor, dialect) } : { ...view, indexes: new Map() };
}

function withBase(cursor: Cursor): LocatedName {
  cursor.expect('base');
  const token = stripPublic(cursor, cursor.require('base table'));
  rejectReserved(token, cursor.at);
  return { name: unquote(token), position: cursor.at };
}

/** What may stand after the query. */
function clauses(cursor: Cursor, { owner, defaults }: Dialect) {
  const indexes = new Map<string, number>();
  let token = cursor.next();
  for (; token === ','; token = cursor.next()) {
    const word = cursor.require("'index'");
    if (!is(word, 'index')) throw unexpected(cursor.at, word);
    index(cursor, indexes, defaults.indexCapacity);
  }
  const timestamp = is(token, 'timestamp') ? timestampColumn(cursor) : undefined;
  if (timestamp) token = cursor.next();
  const partition = partitionUnitOf(cursor, token);
  if (partition) token = cursor.next();
  const timeToLive = is(token, 'ttl') ? ttl(cursor) : undefined;
  if (timeToLive) {
    if (partition) rejectUnevenTtl(partition, timeToLive.ttl, timeToLive.position);
    token = cursor.next();
  }
  const volume = is(token, 'in') ? inVolume(cursor) : undefined;
  if (volume) token = cursor.next();
  return { indexes, timestamp, partition, ttl: timeToLive, volume, owner: owner(cursor, token) };
}

function index(cursor: Cursor, indexes: Map<string, number>, defaultCapacity: number): void {
  cursor.expect('(');
  const { name, position } = literal(cursor);
  const key = foldCase(name);
  if (indexes.has(key)) throw new Rejection(position, 'duplicate index clause');
  const capacity = is(cursor.require("'capacity'"), 'capacity');
  if (!capacity) cursor.back();
  indexes.set(key, capacity ? parseIndexCapacity(cursor) : defaultCapacity);
  cursor.expect(')');
}

function timestampColumn(cursor: Cursor): LocatedName {
  cursor.expect('(');
  const named = literal(cursor);
  cursor.require("')'");
  return named;
}

function partitionUnitOf(cursor: Cursor, token: string | undefined): PartitionUnit | undefined {
  const partition = partitionBy(cursor, token);
  if (!partition) return;
  const unit = partitionUnit(partition.name);
  if (!unit) throw new Rejection(partition.position, "'HOUR', 'DAY', 'WEEK', 'MONTH' or 'YEAR' expected");
  if (unit === 'NONE') throw new Rejection(partition.position, 'materialized view has to be partitioned');
  return unit;
}
