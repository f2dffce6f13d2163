/*!
 * CREATE TABLE, clause by clause and check by check in the order of the server's own parser, because the server reports
 * only the first error.
 */
import { isSameName, type LocatedName } from '@sqlpipe/sql';
import type { Age, Column, PartitionUnit, StoragePolicy } from '../definition.js';
import { parseAge, parseStoragePolicy, rejectUnevenAge } from '../properties/retention.js';
import { type Body, expectEndOfBody, parseEnclosedBody } from './body.js';
import {
  Columns,
  type IndexDialect,
  parseColumnList,
  parseIndexCapacity,
  parseSymbolCapacity,
  parseTypedIndex,
  rejectCachedCapacity,
} from './columns.js';
import type { Cursor } from './cursor.js';
import { isWord } from './cursor.js';
import type { Dialect } from './dialect.js';
import type { HasFeature } from './features.js';
import { parseIfNotExists, parseLiteral, parseObjectName, requireLiteral, unquote } from './names.js';
import { expectLong, parseInt32, parseInt64 } from './numbers.js';
import { parsePartitionBy, parsePartitionUnit } from './partition.js';
import { RejectionError, unexpectedTokenError } from './rejection-error.js';
import { isArray, isTimestamp, parseColumnType } from './types.js';

/** A parsed CREATE TABLE, not yet checked against a catalogue. */
export interface CreateTable {
  readonly statement: 'create table';
  readonly name: string;
  readonly position: number;
  readonly ifNotExists: boolean;
  /** The listed columns; after AS (…) the columns of the query that CAST, INDEX and DEDUP name. */
  readonly columns: Columns;
  readonly like?: LocatedName | undefined;
  readonly select?: Body | undefined;
  /** The positions at which CAST, INDEX and DEDUP name a column of the query. */
  readonly located: { cast: LocatedName[]; index: LocatedName[]; dedup: LocatedName[] };
  readonly timestamp?: LocatedName | undefined;
  readonly partition?: { readonly unit: PartitionUnit; readonly position: number } | undefined;
  readonly ttl: Age;
  readonly policy?: StoragePolicy | undefined;
  readonly wal: boolean;
  readonly parquet: boolean;
  readonly maxUncommittedRows?: number | undefined;
  /** In microseconds. */
  readonly o3MaxLag?: number | undefined;
  readonly volume?: LocatedName | undefined;
  readonly owner?: string | undefined;
}

/** Parses the rest of a statement after CREATE; the next token has been read. */
export function parseCreateTable(cursor: Cursor, first: string, dialect: Dialect): CreateTable {
  const batched = parseLeadIn(cursor, first);
  const named = parseIfNotExists(cursor, cursor.require("table name or 'if'"), 'table name');
  const { name, position } = parseObjectName(cursor, named.token);
  const head = { statement: 'create table', name, position, ifNotExists: named.ifNotExists } as const;
  const located = { cast: [], index: [], dedup: [] };

  const token = cursor.require("'(' or 'as'");
  if (token === '(') {
    if (isWord(cursor.require('like'), 'like')) {
      const like = parseLike(cursor);
      const rest = { columns: new Columns(), located, ttl: 0, wal: false, parquet: false };
      return { ...head, ...rest, like, owner: dialect.owner(cursor, cursor.next()) };
    }
    cursor.unread();
    const columns = parseColumnList(cursor, dialect);
    if (batched) {
      throw new RejectionError(
        cursor.at,
        "'atomic' or 'batch' keywords can only be used in CREATE ... AS SELECT statements.",
      );
    }
    return { ...head, columns, located, ...new ClauseParser(cursor, columns, located, false).parse(dialect) };
  }
  if (!isWord(token, 'as')) throw unexpectedTokenError(cursor.at, token);
  cursor.expect('(');
  const select = parseEnclosedBody(cursor, dialect.checkQuery);
  expectEndOfBody(cursor, select);
  const columns = new Columns();
  return { ...head, columns, located, select, ...new ClauseParser(cursor, columns, located, true).parse(dialect) };
}

/** Parses `ATOMIC TABLE`, `BATCH n [o3MaxLag x] TABLE` or `TABLE`; returns whether it is one of the first two. */
function parseLeadIn(cursor: Cursor, first: string): boolean {
  if (isWord(first, 'table')) return false;
  if (isWord(first, 'atomic')) {
    cursor.expect('table');
    return true;
  }
  if (!isWord(first, 'batch')) throw new RejectionError(cursor.at, "'atomic' or 'table' or 'batch' expected");
  if (expectLong(cursor) <= 0n) throw new RejectionError(cursor.at, 'batch size must be positive integer');
  if (isWord(cursor.require('table or o3MaxLag'), 'o3maxlag')) {
    const position = cursor.readOffset;
    parseInterval(cursor.require('lag value'), position);
    cursor.expect('table');
  }
  return true;
}

function parseLike(cursor: Cursor): LocatedName {
  const like = parseObjectName(cursor, cursor.require('table name'), { reserved: true });
  const token = cursor.require(')');
  if (token !== ')') throw unexpectedTokenError(cursor.at, token);
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

/** Parses `5s`, `250ms` or `10us` into microseconds. @throws RejectionError for anything else */
export function parseInterval(text: string, position: number): number {
  const digits = /^\d*/.exec(text)?.[0].length ?? 0;
  const qualifier = text.slice(digits);
  if (digits > 0 && parseInt64(text.slice(0, digits)) !== undefined) {
    const micros = MICROS.get(qualifier);
    if (micros !== undefined) return Math.floor(Number(text.slice(0, digits)) * micros);
    if (qualifier === '') throw new RejectionError(position + digits, `expected interval qualifier in ${text}`);
    if (qualifier.length > 2) {
      throw new RejectionError(position + digits, `expected 1/2 letter interval qualifier in ${text}`);
    }
  }
  throw new RejectionError(position + text.length, `invalid interval qualifier ${text}`);
}

/** The parameters that WITH can set. */
type Parameters = Pick<CreateTable, 'maxUncommittedRows' | 'o3MaxLag'>;

/** How new partitions are written, and where a statement says so. */
interface Format {
  readonly parquet: boolean;
  readonly position: number;
}

/** Parses the word after FORMAT. */
export function parseFormat(cursor: Cursor): Format {
  const token = cursor.requireNoSemicolon("'parquet' or 'native'");
  const parquet = isWord(token, 'parquet');
  if (!parquet && !isWord(token, 'native')) throw new RejectionError(cursor.at, "'parquet' or 'native' expected");
  return { parquet, position: cursor.at };
}

/** Parses everything after the columns. */
class ClauseParser {
  #token: string | undefined;

  constructor(
    readonly cursor: Cursor,
    readonly columns: Columns,
    readonly located: { cast: LocatedName[]; index: LocatedName[]; dedup: LocatedName[] },
    readonly asSelect: boolean,
  ) {}

  parse(dialect: Dialect) {
    const { owner, enterprise, defaults, has } = dialect;
    this.#advance();
    this.#indexesAndCasts(dialect);
    const timestamp = this.#timestamp();
    const partition = this.#partition(timestamp);
    const unit = partition?.unit ?? 'NONE';
    const ttl = partition ? this.#ttl(unit) : 0;
    const policy = enterprise && partition ? this.#policy(unit) : undefined;
    let format = this.#format(has, undefined);
    const wal = (partition ? (this.#wal(unit) ?? defaults.wal) : true) && unit !== 'NONE';
    format = this.#format(has, format);
    const parameters = this.#with();
    const volume = this.#volume();
    format = this.#format(has, format);
    this.#dedup(wal, timestamp);
    format = this.#format(has, format);
    if (format?.parquet && !wal)
      throw new RejectionError(format.position, 'FORMAT PARQUET is only supported on WAL tables');
    const parquet = format?.parquet ?? false;
    return {
      ...{ timestamp, partition, ttl, policy, wal, parquet, volume, ...parameters },
      owner: owner(this.cursor, this.#token),
    };
  }

  #advance(): void {
    this.#token = this.cursor.next();
  }

  #indexesAndCasts(dialect: IndexDialect): void {
    for (; this.#token === ','; this.#advance()) {
      const token = this.cursor.require("'index' or 'cast'");
      if (isWord(token, 'index')) this.#index(dialect);
      else if (isWord(token, 'cast')) this.#cast();
      else throw unexpectedTokenError(this.cursor.at, token);
    }
  }

  #index(dialect: IndexDialect): void {
    const { cursor } = this;
    cursor.expect('(');
    const named = parseLiteral(cursor);
    const column = this.#indexedColumn(named);
    const token = cursor.require("'capacity'");
    const index = parseTypedIndex(cursor, token, dialect);
    if (index) column.index = index;
    else if (isWord(token, 'capacity')) column.index = { type: 'BITMAP', capacity: parseIndexCapacity(cursor) };
    else {
      column.index = { type: 'BITMAP', capacity: dialect.defaults.indexCapacity };
      cursor.unread();
    }
    cursor.expect(')');
  }

  #indexedColumn(named: LocatedName): Column {
    const column = this.columns.find(named.name);
    if (this.asSelect) this.located.index.push(named);
    if (!column) {
      if (!this.asSelect) throw new RejectionError(named.position, `Invalid column: ${named.name}`);
      return this.#columnOfQuery(named.name);
    }
    if (column.index) throw new RejectionError(named.position, 'duplicate index clause');
    if (!this.asSelect && column.type !== 'SYMBOL') {
      throw new RejectionError(
        named.position,
        `indexes are supported only for SYMBOL columns [columnName=${named.name}, columnType=${column.type}]`,
      );
    }
    return column;
  }

  /** Adds a column of the query. Unless a CAST states its type, the server does not cache its symbols. */
  #columnOfQuery(name: string): Column {
    return this.columns.add({ name, type: '', cached: false, dedup: false }, 0);
  }

  #cast(): void {
    const { cursor } = this;
    if (!this.asSelect) {
      throw new RejectionError(cursor.at, "cast is only supported in 'create table as ...' context");
    }
    cursor.expect('(');
    const named = parseLiteral(cursor);
    const column = this.columns.find(named.name) ?? this.#columnOfQuery(named.name);
    if (column.type) throw new RejectionError(cursor.at, 'duplicate cast');
    cursor.expect('as');
    const type = parseLiteral(cursor);
    column.type = parseColumnType(cursor, type.name);
    this.located.cast.push({ name: named.name, position: named.position });
    if (column.type === 'SYMBOL') this.#castSymbol(column);
    cursor.expect(')');
  }

  #castSymbol(column: Column): void {
    const { cursor } = this;
    let token = cursor.require("'capacity', 'nocache', 'cache' or ')'");
    const position = cursor.readOffset;
    if (isWord(token, 'capacity')) {
      column.capacity = parseSymbolCapacity(cursor);
      token = cursor.require("'nocache', 'cache' or ')'");
    }
    column.cached = !isWord(token, 'nocache');
    if (!isWord(token, 'nocache') && !isWord(token, 'cache')) cursor.unread();
    if (column.cached) rejectCachedCapacity(column.capacity ?? 0, position);
  }

  #timestamp(): LocatedName | undefined {
    if (!isWord(this.#token, 'timestamp')) return;
    const { cursor } = this;
    cursor.expect('(');
    const named = parseLiteral(cursor);
    cursor.require("')'");
    if (!this.asSelect) this.#rejectNoTimestamp(named);
    this.#advance();
    return named;
  }

  #rejectNoTimestamp({ name, position }: LocatedName): void {
    const column = this.columns.find(name);
    if (!column) throw new RejectionError(position, `invalid designated timestamp column [name=${name}]`);
    if (isTimestamp(column.type)) return;
    throw new RejectionError(position, `TIMESTAMP column expected [actual=${column.type}, columnName=${name}]`);
  }

  #partition(timestamp: LocatedName | undefined): { unit: PartitionUnit; position: number } | undefined {
    const partition = parsePartitionBy(this.cursor, this.#token);
    if (!partition) return;
    const { name, position } = partition;
    if (!this.asSelect && !timestamp) {
      throw new RejectionError(position, 'partitioning is possible only on tables with designated timestamps');
    }
    const unit = parsePartitionUnit(name);
    if (!unit) throw new RejectionError(position, "'NONE', 'HOUR', 'DAY', 'WEEK', 'MONTH' or 'YEAR' expected");
    this.#advance();
    return { unit, position };
  }

  #ttl(unit: PartitionUnit): Age {
    if (!isWord(this.#token, 'ttl')) return 0;
    const value = parseAge(this.cursor);
    rejectUnevenAge(unit, value.age, value.position);
    this.#advance();
    return value.age;
  }

  #policy(unit: PartitionUnit): StoragePolicy | undefined {
    if (!isWord(this.#token, 'storage')) return;
    const policy = parseStoragePolicy(this.cursor, unit);
    this.#advance();
    return policy;
  }

  /** Parses FORMAT PARQUET or NATIVE, which may stand in several positions, but once. */
  #format(has: HasFeature, previous: Format | undefined): Format | undefined {
    if (!has('format') || !isWord(this.#token, 'format')) return previous;
    if (previous) throw new RejectionError(this.cursor.at, 'duplicate FORMAT clause');
    const format = parseFormat(this.cursor);
    this.#advance();
    return format;
  }

  /** Parses WAL and BYPASS WAL; undefined if neither comes next. */
  #wal(unit: PartitionUnit): boolean | undefined {
    if (isWord(this.#token, 'wal')) {
      if (unit === 'NONE') {
        throw new RejectionError(this.cursor.at, 'WAL Write Mode can only be used on partitioned tables');
      }
      this.#advance();
      return true;
    }
    if (!isWord(this.#token, 'bypass')) return undefined;
    this.#advance();
    if (!isWord(this.#token, 'wal')) {
      const position = this.#token === undefined ? this.cursor.readOffset : this.cursor.at;
      throw new RejectionError(position, ` invalid syntax, should be BYPASS WAL but was BYPASS ${this.#token ?? ''}`);
    }
    this.#advance();
    return false;
  }

  /** Parses `WITH maxUncommittedRows=n, o3MaxLag=x`. */
  #with(): Parameters {
    const parameters: Parameters = {};
    if (!isWord(this.#token, 'with')) return parameters;
    const { cursor } = this;
    for (;;) {
      Object.assign(parameters, this.#parameter());
      this.#advance();
      if (this.#token !== ',') return parameters;
      const next = cursor.next();
      if (next === undefined) return parameters;
      cursor.unread();
      if (!isWord(next, 'in')) continue;
      this.#advance();
      return parameters;
    }
  }

  #parameter(): Parameters {
    const { cursor } = this;
    const name = cursor.next();
    if (cursor.next() !== '=') throw new RejectionError(cursor.readOffset, ' expected parameter after WITH');
    const equals = cursor.at;
    const value = cursor.next();
    if (value === undefined) throw new RejectionError(equals, "too few arguments for '=' [found=1,expected=2]");
    cursor.next();
    const position = cursor.readOffset;
    cursor.unread();
    if (isWord(name, 'maxuncommittedrows')) {
      const maxUncommittedRows = parseInt32(value);
      if (maxUncommittedRows !== undefined) return { maxUncommittedRows };
      throw new RejectionError(position, ` could not parse maxUncommittedRows value "${value}"`);
    }
    if (!isWord(name, 'o3maxlag')) throw new RejectionError(position, ` unrecognized ${name} after WITH`);
    return { o3MaxLag: parseInterval(value, position) };
  }

  #volume(): LocatedName | undefined {
    if (!isWord(this.#token, 'in')) return;
    const volume = parseVolume(this.cursor);
    this.#advance();
    return volume;
  }

  #dedup(wal: boolean, timestamp: LocatedName | undefined): void {
    if (!isWord(this.#token, 'dedup') && !isWord(this.#token, 'deduplicate')) return;
    const { cursor } = this;
    if (!wal) throw new RejectionError(cursor.readOffset, 'deduplication is possible only on WAL tables');
    this.#advance();
    if (!isWord(this.#token, 'upsert')) throw new RejectionError(cursor.at, "expected 'upsert'");
    this.#advance();
    if (!isWord(this.#token, 'keys')) throw new RejectionError(cursor.at, "expected 'keys'");
    if (cursor.next() !== '(') throw new RejectionError(cursor.readOffset, 'column list expected');
    let token = cursor.next();
    const position = cursor.at;
    let withTimestamp = false;
    while (token !== undefined && token !== ')') {
      const name = this.#dedupKey(token);
      withTimestamp ||= timestamp !== undefined && isSameName(name, timestamp.name);
      token = cursor.next();
      if (token === ',') token = cursor.next();
    }
    if (!withTimestamp && !this.asSelect) {
      throw new RejectionError(position, 'deduplicate key list must include dedicated timestamp column');
    }
    this.#advance();
  }

  #dedupKey(token: string): string {
    const position = this.cursor.at;
    requireLiteral(token, position);
    const name = unquote(token);
    const column = this.columns.find(name);
    if (this.asSelect) this.located.dedup.push({ name, position });
    else if (!column) throw new RejectionError(position, `deduplicate key column not found [column=${name}]`);
    else if (column.dedup) throw new RejectionError(position, `duplicate dedup column [column=${name}]`);
    if (column && isArray(column.type)) {
      throw new RejectionError(
        position,
        `dedup key columns cannot include ARRAY [column=${name}, type=${column.type}]`,
      );
    }
    (column ?? this.#columnOfQuery(name)).dedup = true;
    return name;
  }
}

/** Parses `VOLUME <alias>` after IN. */
export function parseVolume(cursor: Cursor): LocatedName {
  cursor.expect('volume');
  const alias = cursor.require('path for volume');
  return { name: unquote(alias), position: cursor.at };
}
