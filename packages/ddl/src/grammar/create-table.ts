/*!
 * CREATE TABLE, clause by clause and check by check in the order of the service's own parser: the first thing wrong
 * is the one it tells.
 */
import { foldCase } from '@sqlpipe/sql';
import type { Column, Defaults } from '../definition.js';
import { type Body, enclosedBody, endBody } from './body.js';
import {
  Columns,
  columnList,
  indexType,
  parseIndexCapacity,
  parseSymbolCapacity,
  rejectCachedCapacity,
} from './columns.js';
import type { Cursor } from './cursor.js';
import { is } from './cursor.js';
import type { Dialect } from './dialect.js';
import { ifNotExists, type LocatedName, literal, objectName, rejectNoLiteral, unquote } from './names.js';
import { expectLong, parseInt32, parseInt64 } from './numbers.js';
import { type PartitionUnit, partitionBy, partitionUnit, rejectUnevenTtl, type Ttl, ttl } from './partition.js';
import { Rejection, unexpected } from './rejection.js';
import { type StoragePolicy, storagePolicy } from './storage-policy.js';
import { columnType, isArray, isTimestamp } from './types.js';

/** What CREATE TABLE asks for, before any catalogue is looked at. */
export interface CreateTable {
  readonly statement: 'create table';
  readonly name: string;
  readonly position: number;
  readonly ifNotExists: boolean;
  /** The columns listed; after AS (…) what CAST, INDEX and DEDUP say of columns of the query. */
  readonly columns: Columns;
  readonly like?: LocatedName | undefined;
  readonly select?: Body | undefined;
  /** Where CAST, INDEX and DEDUP name a column of the query. */
  readonly located: { cast: LocatedName[]; index: LocatedName[]; dedup: LocatedName[] };
  readonly timestamp?: LocatedName | undefined;
  readonly partition?: { readonly unit: PartitionUnit; readonly position: number } | undefined;
  readonly ttl: Ttl;
  readonly policy?: StoragePolicy | undefined;
  readonly wal: boolean;
  readonly parquet: boolean;
  readonly maxUncommittedRows?: number | undefined;
  /** In microseconds. */
  readonly o3MaxLag?: number | undefined;
  readonly volume?: LocatedName | undefined;
  readonly owner?: string | undefined;
}

/** After CREATE, whose next token was read already. */
export function createTable(cursor: Cursor, first: string, dialect: Dialect): CreateTable {
  const batched = leadIn(cursor, first);
  const named = ifNotExists(cursor, cursor.require("table name or 'if'"), 'table name');
  const { name, position } = objectName(cursor, named.token);
  const head = { statement: 'create table', name, position, ifNotExists: named.ifNotExists } as const;
  const located = { cast: [], index: [], dedup: [] };

  const token = cursor.require("'(' or 'as'");
  if (token === '(') {
    if (is(cursor.require('like'), 'like')) {
      const like = likeTable(cursor);
      const rest = { columns: new Columns(), located, ttl: 0, wal: false, parquet: false };
      return { ...head, ...rest, like, owner: dialect.owner(cursor, cursor.next()) };
    }
    cursor.back();
    const columns = columnList(cursor, dialect.defaults);
    if (batched) {
      throw new Rejection(
        cursor.at,
        "'atomic' or 'batch' keywords can only be used in CREATE ... AS SELECT statements.",
      );
    }
    return { ...head, columns, located, ...new Clauses(cursor, columns, located, false).parse(dialect) };
  }
  if (!is(token, 'as')) throw unexpected(cursor.at, token);
  cursor.expect('(');
  const select = enclosedBody(cursor, dialect.checkQuery);
  endBody(cursor, select);
  const columns = new Columns();
  return { ...head, columns, located, select, ...new Clauses(cursor, columns, located, true).parse(dialect) };
}

/** `ATOMIC TABLE`, `BATCH n [o3MaxLag x] TABLE` or `TABLE`: whether one of the first two. */
function leadIn(cursor: Cursor, first: string): boolean {
  if (is(first, 'table')) return false;
  if (is(first, 'atomic')) {
    cursor.expect('table');
    return true;
  }
  if (!is(first, 'batch')) throw new Rejection(cursor.at, "'atomic' or 'table' or 'batch' expected");
  if (expectLong(cursor) <= 0n) throw new Rejection(cursor.at, 'batch size must be positive integer');
  if (is(cursor.require('table or o3MaxLag'), 'o3maxlag')) {
    const position = cursor.reach;
    parseInterval(cursor.require('lag value'), position);
    cursor.expect('table');
  }
  return true;
}

function likeTable(cursor: Cursor): LocatedName {
  const like = objectName(cursor, cursor.require('table name'), { reserved: true });
  const token = cursor.require(')');
  if (token !== ')') throw unexpected(cursor.at, token);
  return like;
}

/** Microseconds in each unit. */
const MICROS = new Map([
  ['ns', 1e-3],
  ['us', 1],
  ['ms', 1e3],
  ['s', 1e6],
  ['m', 60e6],
  ['h', 3600e6],
  ['d', 86_400e6],
]);

/** `5s`, `250ms`, `10us` in microseconds. @throws Rejection where it is no such thing */
export function parseInterval(text: string, position: number): number {
  const digits = /^\d*/.exec(text)?.[0].length ?? 0;
  const qualifier = text.slice(digits);
  if (digits > 0 && parseInt64(text.slice(0, digits)) !== undefined) {
    const micros = MICROS.get(qualifier);
    if (micros !== undefined) return Math.floor(Number(text.slice(0, digits)) * micros);
    if (qualifier === '') throw new Rejection(position + digits, `expected interval qualifier in ${text}`);
    if (qualifier.length > 2) {
      throw new Rejection(position + digits, `expected 1/2 letter interval qualifier in ${text}`);
    }
  }
  throw new Rejection(position + text.length, `invalid interval qualifier ${text}`);
}

/** What WITH can set. */
type Parameters = Pick<CreateTable, 'maxUncommittedRows' | 'o3MaxLag'>;

/** Everything after the columns. */
class Clauses {
  #token: string | undefined;

  constructor(
    readonly cursor: Cursor,
    readonly columns: Columns,
    readonly located: { cast: LocatedName[]; index: LocatedName[]; dedup: LocatedName[] },
    readonly asSelect: boolean,
  ) {}

  parse({ owner, enterprise, defaults }: Dialect) {
    this.#advance();
    this.#indexesAndCasts(defaults);
    const timestamp = this.#timestamp();
    const partition = this.#partition(timestamp);
    const unit = partition?.unit ?? 'NONE';
    const ttl = partition ? this.#ttl(unit) : 0;
    const policy = enterprise && partition ? this.#policy(unit) : undefined;
    let format = this.#format();
    const wal = (partition ? (this.#wal(unit) ?? defaults.wal) : true) && unit !== 'NONE';
    format ??= this.#format();
    const parameters = this.#with();
    const volume = this.#volume();
    format ??= this.#format();
    this.#dedup(wal, timestamp);
    format ??= this.#format();
    if (format?.parquet && !wal) throw new Rejection(format.position, 'FORMAT PARQUET is only supported on WAL tables');
    const parquet = format?.parquet ?? false;
    return {
      ...{ timestamp, partition, ttl, policy, wal, parquet, volume, ...parameters },
      owner: owner(this.cursor, this.#token),
    };
  }

  #advance(): void {
    this.#token = this.cursor.next();
  }

  #indexesAndCasts(defaults: Defaults): void {
    for (; this.#token === ','; this.#advance()) {
      const token = this.cursor.require("'index' or 'cast'");
      if (is(token, 'index')) this.#index(defaults);
      else if (is(token, 'cast')) this.#cast();
      else throw unexpected(this.cursor.at, token);
    }
  }

  #index(defaults: Defaults): void {
    const { cursor } = this;
    cursor.expect('(');
    const named = literal(cursor);
    const column = this.#indexedColumn(named);
    const token = cursor.require("'capacity'");
    if (is(token, 'type')) column.index = indexType(cursor, defaults);
    else if (is(token, 'capacity')) column.index = { type: 'BITMAP', capacity: parseIndexCapacity(cursor) };
    else {
      column.index = { type: 'BITMAP', capacity: defaults.indexCapacity };
      cursor.back();
    }
    cursor.expect(')');
  }

  #indexedColumn(named: LocatedName): Column {
    const column = this.columns.find(named.name);
    if (this.asSelect) this.located.index.push(named);
    if (!column) {
      if (!this.asSelect) throw new Rejection(named.position, `Invalid column: ${named.name}`);
      return this.#columnOfQuery(named.name);
    }
    if (column.index) throw new Rejection(named.position, 'duplicate index clause');
    if (!this.asSelect && column.type !== 'SYMBOL') {
      throw new Rejection(
        named.position,
        `indexes are supported only for SYMBOL columns [columnName=${named.name}, columnType=${column.type}]`,
      );
    }
    return column;
  }

  /** A column of the query, of which no more is known than what the clauses say: the service then caches no symbols. */
  #columnOfQuery(name: string): Column {
    return this.columns.add({ name, type: '', cached: false, dedup: false }, 0);
  }

  #cast(): void {
    const { cursor } = this;
    if (!this.asSelect) {
      throw new Rejection(cursor.at, "cast is only supported in 'create table as ...' context");
    }
    cursor.expect('(');
    const named = literal(cursor);
    const column = this.columns.find(named.name) ?? this.#columnOfQuery(named.name);
    if (column.type) throw new Rejection(cursor.at, 'duplicate cast');
    cursor.expect('as');
    const type = literal(cursor);
    column.type = columnType(cursor, type.name);
    this.located.cast.push({ name: named.name, position: named.position });
    if (column.type === 'SYMBOL') this.#castSymbol(column);
    cursor.expect(')');
  }

  #castSymbol(column: Column): void {
    const { cursor } = this;
    let token = cursor.require("'capacity', 'nocache', 'cache' or ')'");
    const position = cursor.reach;
    if (is(token, 'capacity')) {
      column.capacity = parseSymbolCapacity(cursor);
      token = cursor.require("'nocache', 'cache' or ')'");
    }
    column.cached = !is(token, 'nocache');
    if (!is(token, 'nocache') && !is(token, 'cache')) cursor.back();
    if (column.cached) rejectCachedCapacity(column.capacity ?? 0, position);
  }

  #timestamp(): LocatedName | undefined {
    if (!is(this.#token, 'timestamp')) return;
    const { cursor } = this;
    cursor.expect('(');
    const named = literal(cursor);
    cursor.require("')'");
    if (!this.asSelect) this.#rejectNoTimestamp(named);
    this.#advance();
    return named;
  }

  #rejectNoTimestamp({ name, position }: LocatedName): void {
    const column = this.columns.find(name);
    if (!column) throw new Rejection(position, `invalid designated timestamp column [name=${name}]`);
    if (isTimestamp(column.type)) return;
    throw new Rejection(position, `TIMESTAMP column expected [actual=${column.type}, columnName=${name}]`);
  }

  #partition(timestamp: LocatedName | undefined): { unit: PartitionUnit; position: number } | undefined {
    const partition = partitionBy(this.cursor, this.#token);
    if (!partition) return;
    const { name, position } = partition;
    if (!this.asSelect && !timestamp) {
      throw new Rejection(position, 'partitioning is possible only on tables with designated timestamps');
    }
    const unit = partitionUnit(name);
    if (!unit) throw new Rejection(position, "'NONE', 'HOUR', 'DAY', 'WEEK', 'MONTH' or 'YEAR' expected");
    this.#advance();
    return { unit, position };
  }

  #ttl(unit: PartitionUnit): Ttl {
    if (!is(this.#token, 'ttl')) return 0;
    const value = ttl(this.cursor);
    rejectUnevenTtl(unit, value.ttl, value.position);
    this.#advance();
    return value.ttl;
  }

  #policy(unit: PartitionUnit): StoragePolicy | undefined {
    if (!is(this.#token, 'storage')) return;
    const policy = storagePolicy(this.cursor, unit);
    this.#advance();
    return policy;
  }

  /** FORMAT PARQUET or NATIVE, which the later build takes in several places. */
  #format(): { parquet: boolean; position: number } | undefined {
    if (!is(this.#token, 'format')) return;
    const token = this.cursor.require("'PARQUET' or 'NATIVE'");
    const position = this.cursor.at;
    if (!is(token, 'parquet') && !is(token, 'native')) throw new Rejection(position, "'PARQUET' or 'NATIVE' expected");
    this.#advance();
    return { parquet: is(token, 'parquet'), position };
  }

  /** Undefined where it is left to the server. */
  #wal(unit: PartitionUnit): boolean | undefined {
    if (is(this.#token, 'wal')) {
      if (unit === 'NONE') {
        throw new Rejection(this.cursor.at, 'WAL Write Mode can only be used on partitioned tables');
      }
      this.#advance();
      return true;
    }
    if (!is(this.#token, 'bypass')) return undefined;
    this.#advance();
    if (!is(this.#token, 'wal')) {
      const position = this.#token === undefined ? this.cursor.reach : this.cursor.at;
      throw new Rejection(position, ` invalid syntax, should be BYPASS WAL but was BYPASS ${this.#token ?? ''}`);
    }
    this.#advance();
    return false;
  }

  /** `WITH maxUncommittedRows=n, o3MaxLag=x` */
  #with(): Parameters {
    const parameters: Parameters = {};
    if (!is(this.#token, 'with')) return parameters;
    const { cursor } = this;
    for (;;) {
      Object.assign(parameters, this.#parameter());
      this.#advance();
      if (this.#token !== ',') return parameters;
      const next = cursor.next();
      if (next === undefined) return parameters;
      cursor.back();
      if (!is(next, 'in')) continue;
      this.#advance();
      return parameters;
    }
  }

  #parameter(): Parameters {
    const { cursor } = this;
    const name = cursor.next();
    if (cursor.next() !== '=') throw new Rejection(cursor.reach, ' expected parameter after WITH');
    const equals = cursor.at;
    const value = cursor.next();
    if (value === undefined) throw new Rejection(equals, "too few arguments for '=' [found=1,expected=2]");
    cursor.next();
    const position = cursor.reach;
    cursor.back();
    if (is(name, 'maxuncommittedrows')) {
      const maxUncommittedRows = parseInt32(value);
      if (maxUncommittedRows !== undefined) return { maxUncommittedRows };
      throw new Rejection(position, ` could not parse maxUncommittedRows value "${value}"`);
    }
    if (!is(name, 'o3maxlag')) throw new Rejection(position, ` unrecognized ${name} after WITH`);
    return { o3MaxLag: parseInterval(value, position) };
  }

  #volume(): LocatedName | undefined {
    if (!is(this.#token, 'in')) return;
    const volume = inVolume(this.cursor);
    this.#advance();
    return volume;
  }

  #dedup(wal: boolean, timestamp: LocatedName | undefined): void {
    if (!is(this.#token, 'dedup') && !is(this.#token, 'deduplicate')) return;
    const { cursor } = this;
    if (!wal) throw new Rejection(cursor.reach, 'deduplication is possible only on WAL tables');
    this.#advance();
    if (!is(this.#token, 'upsert')) throw new Rejection(cursor.at, "expected 'upsert'");
    this.#advance();
    if (!is(this.#token, 'keys')) throw new Rejection(cursor.at, "expected 'keys'");
    if (cursor.next() !== '(') throw new Rejection(cursor.reach, 'column list expected');
    let token = cursor.next();
    const position = cursor.at;
    let withTimestamp = false;
    while (token !== undefined && token !== ')') {
      const name = this.#dedupKey(token);
      withTimestamp ||= timestamp !== undefined && foldCase(name) === foldCase(timestamp.name);
      token = cursor.next();
      if (token === ',') token = cursor.next();
    }
    if (!withTimestamp && !this.asSelect) {
      throw new Rejection(position, 'deduplicate key list must include dedicated timestamp column');
    }
    this.#advance();
  }

  #dedupKey(token: string): string {
    const position = this.cursor.at;
    rejectNoLiteral(token, position);
    const name = unquote(token);
    const column = this.columns.find(name);
    if (this.asSelect) this.located.dedup.push({ name, position });
    else if (!column) throw new Rejection(position, `deduplicate key column not found [column=${name}]`);
    else if (column.dedup) throw new Rejection(position, `duplicate dedup column [column=${name}]`);
    if (column && isArray(column.type)) {
      throw new Rejection(position, `dedup key columns cannot include ARRAY [column=${name}, type=${column.type}]`);
    }
    (column ?? this.#columnOfQuery(name)).dedup = true;
    return name;
  }
}

/** `VOLUME <alias>` after IN. */
export function inVolume(cursor: Cursor): LocatedName {
  cursor.expect('volume');
  const alias = cursor.require('path for volume');
  return { name: unquote(alias), position: cursor.at };
}
