/*! CREATE MATERIALIZED VIEW, check by check in the order of the server's own parser. */

import { foldCase, type LocatedName } from '@sqlpipe/sql';
import type { Age, PartitionUnit, RefreshClause } from '../definition.js';
import { parseRefresh } from '../properties/refresh.js';
import { parseAge, rejectUnevenAge } from '../properties/retention.js';
import { type Body, expectEndOfBody, parseViewBody } from './body.js';
import { parseIndexCapacity } from './columns.js';
import { parseVolume } from './create-table.js';
import type { Cursor } from './cursor.js';
import { isWord } from './cursor.js';
import type { Dialect } from './dialect.js';
import { parseExpireRows } from './expire-rows.js';
import { parseIfNotExists, parseLiteral, parseObjectName, rejectReserved, stripPublic, unquote } from './names.js';
import { parsePartitionBy, parsePartitionUnit } from './partition.js';
import { RejectionError, unexpectedTokenError } from './rejection-error.js';

export interface CreateMaterializedView {
  readonly statement: 'create materialized view';
  readonly name: string;
  readonly position: number;
  readonly ifNotExists: boolean;
  /** The base table, if the statement names it or `findBase` found it. */
  readonly base?: LocatedName | undefined;
  readonly refresh: RefreshClause;
  readonly body: Body;
  /** The columns in INDEX, with the requested capacity. */
  readonly indexes: ReadonlyMap<string, number>;
  readonly timestamp?: LocatedName | undefined;
  readonly partition?: PartitionUnit | undefined;
  readonly ttl?: { readonly age: Age; readonly position: number } | undefined;
  /** The text after EXPIRE ROWS. */
  readonly expire?: string | undefined;
  readonly volume?: LocatedName | undefined;
  readonly owner?: string | undefined;
}

/** Finds the base table of a query. It throws what the server's parser rejects before it continues. */
export type FindBase = (body: Body, given: LocatedName | undefined) => LocatedName;

/** Parses the rest of a statement after CREATE MATERIALIZED. */
export function parseCreateMaterializedView(cursor: Cursor, dialect: Dialect): CreateMaterializedView {
  cursor.expect('view');
  const named = parseIfNotExists(cursor, cursor.require("view name or 'if'"), 'view name');
  const { name, position } = parseObjectName(cursor, named.token);

  let token = cursor.require("'as' or 'with' or 'refresh'");
  const given = isWord(token, 'with') ? parseBase(cursor) : undefined;
  if (given) token = cursor.require("'as' or 'refresh'");
  const refreshGiven = isWord(token, 'refresh');
  const refresh = parseRefresh(cursor, token);
  if (!isWord(refresh.token, 'as')) {
    throw new RejectionError(cursor.at, refreshGiven ? "'as' expected" : "'refresh' or 'as' expected");
  }
  const body = parseViewBody(cursor, dialect.checkQuery);
  const base = dialect.findBase ? dialect.findBase(body, given) : given;
  expectEndOfBody(cursor, body);
  const head = { statement: 'create materialized view', name, position, ifNotExists: named.ifNotExists } as const;
  const view = { ...head, base, refresh: refresh.clause, body };
  return body.enclosed ? { ...view, ...parseClauses(cursor, dialect) } : { ...view, indexes: new Map() };
}

function parseBase(cursor: Cursor): LocatedName {
  cursor.expect('base');
  const token = stripPublic(cursor, cursor.require('base table'));
  rejectReserved(token, cursor.at);
  return { name: unquote(token), position: cursor.at };
}

/** The clauses that may follow the query. */
function parseClauses(cursor: Cursor, { owner, defaults, has }: Dialect) {
  const indexes = new Map<string, number>();
  let token = cursor.next();
  for (; token === ','; token = cursor.next()) {
    const word = cursor.require("'index'");
    if (!isWord(word, 'index')) throw unexpectedTokenError(cursor.at, word);
    parseIndex(cursor, indexes, defaults.indexCapacity);
  }
  const timestamp = isWord(token, 'timestamp') ? parseTimestampColumn(cursor) : undefined;
  if (timestamp) token = cursor.next();
  const partition = parsePartition(cursor, token);
  if (partition) token = cursor.next();
  const timeToLive = isWord(token, 'ttl') ? parseAge(cursor) : undefined;
  if (timeToLive) {
    if (partition) rejectUnevenAge(partition, timeToLive.age, timeToLive.position);
    token = cursor.next();
  }
  const expire = has('passthrough views') && isWord(token, 'expire') ? parseExpireRows(cursor) : undefined;
  if (expire !== undefined) token = cursor.next();
  const volume = isWord(token, 'in') ? parseVolume(cursor) : undefined;
  if (volume) token = cursor.next();
  return { indexes, timestamp, partition, ttl: timeToLive, expire, volume, owner: owner(cursor, token) };
}

function parseIndex(cursor: Cursor, indexes: Map<string, number>, defaultCapacity: number): void {
  cursor.expect('(');
  const { name, position } = parseLiteral(cursor);
  const key = foldCase(name);
  if (indexes.has(key)) throw new RejectionError(position, 'duplicate index clause');
  const capacity = isWord(cursor.require("'capacity'"), 'capacity');
  if (!capacity) cursor.unread();
  indexes.set(key, capacity ? parseIndexCapacity(cursor) : defaultCapacity);
  cursor.expect(')');
}

function parseTimestampColumn(cursor: Cursor): LocatedName {
  cursor.expect('(');
  const named = parseLiteral(cursor);
  cursor.require("')'");
  return named;
}

function parsePartition(cursor: Cursor, token: string | undefined): PartitionUnit | undefined {
  const partition = parsePartitionBy(cursor, token);
  if (!partition) return;
  const unit = parsePartitionUnit(partition.name);
  if (!unit) throw new RejectionError(partition.position, "'HOUR', 'DAY', 'WEEK', 'MONTH' or 'YEAR' expected");
  if (unit === 'NONE') throw new RejectionError(partition.position, 'materialized view has to be partitioned');
  return unit;
}
