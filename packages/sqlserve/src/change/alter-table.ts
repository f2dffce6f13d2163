/*!
 * ALTER TABLE. QuestDB checks a statement against the table while it parses it, so that an unknown column is rejected
 * before the text after it is parsed: here too, parsing and checking are one step. Nothing changes before the end.
 */
import { type Column, DEFAULTS, isAcceptedConversion } from '@sqlpipe/ddl';
import {
  type Cursor,
  ceilPow2,
  isValidColumnName,
  isWord,
  parseIndexType,
  parseInt32,
  parseInterval,
  parseParquet,
  parseStoragePolicy,
  parseTtl,
  RejectionError,
  rejectReserved,
  rejectUnevenTtl,
  requireLiteral,
  unquote,
} from '@sqlpipe/ddl/grammar';
import { parseEntityName } from '../acl/names.js';
import type { Table } from '../objects.js';
import type { Session } from '../session.js';
import { invalidate } from '../validity.js';
import { parseAddedColumn, parseSymbolCapacity } from './column.js';
import { resumeWal, suspendWal } from './wal.js';

const verbs = "'add', 'alter', 'attach', 'detach', 'drop', 'convert', 'resume', 'rename', 'set' or 'squash' expected";

/** After ALTER TABLE. */
export function alterTable(cursor: Cursor, session: Session): void {
  const position = cursor.readOffset;
  const token = cursor.requireNoSemicolon('table name');
  rejectReserved(token, position);
  const name = unquote(token);
  const object = session.catalog.find(name);
  if (!object) throw new RejectionError(position, `table does not exist [table=${name}]`);
  if (object.kind !== 'table')
    throw new RejectionError(cursor.at, `cannot modify ${object.kind} [view=${object.name}]`);
  const alteration = new TableAlteration(
    cursor,
    session,
    { ...object, columns: structuredClone(object.columns) },
    position,
  );
  const changed = alteration.read();
  cursor.expectEnd();
  for (const { name: column } of alteration.added) session.assignColumnOwner(object.name, column, alteration.owner);
  const restructured =
    changed.columns.some((column, i) => column.name !== object.columns[i]?.name) ||
    changed.columns.length < object.columns.length;
  session.catalog.put(restructured ? { ...changed, structure: (object.structure ?? 0) + 1 } : changed);
  const operation = columnOperation(object, changed);
  if (operation) invalidate(session.catalog, object.name, operation);
}

/** How the existing columns were changed, in the words in which materialized views over the table report it. */
function columnOperation({ columns: oldColumns }: Table, { columns: newColumns }: Table): string | undefined {
  if (newColumns.length < oldColumns.length) return 'drop column operation';
  if (oldColumns.some(({ name }, i) => newColumns[i]?.name !== name)) return 'rename column operation';
  return oldColumns.some(({ type }, i) => newColumns[i]?.type !== type) ? 'change column type operation' : undefined;
}

class TableAlteration {
  /** The current name of the designated timestamp. */
  #timestamp: string | undefined;

  /** The columns that were added, and their owner if the statement names one. */
  readonly added: Column[] = [];
  owner: string | undefined;

  constructor(
    readonly cursor: Cursor,
    readonly session: Session,
    readonly table: Table,
    readonly position: number,
  ) {
    this.#timestamp = table.timestamp;
  }

  read(): Table {
    const { cursor, table } = this;
    const verb = cursor.requireNoSemicolon(verbs.replace(' expected', '')).toLowerCase();
    switch (verb) {
      case 'add':
        this.#authorize('ADD COLUMN');
        this.#addColumns();
        return table;
      case 'drop':
        return this.#drop();
      case 'rename':
        this.#expectWord('column');
        this.#authorize('RENAME COLUMN');
        this.#renameColumns();
        return { ...table, timestamp: this.#timestamp };
      case 'alter':
        this.#expectWord('column', "'column' or 'partition' expected");
        this.#alterColumn();
        return table;
      case 'set':
        return this.#set();
      case 'dedup':
      case 'deduplicate':
        return this.#dedup();
      case 'enable':
      case 'disable':
        if (this.session.enterprise) return this.#switchPolicy(verb === 'disable');
        throw new RejectionError(cursor.at, verbs);
      case 'resume':
        this.#authorize('RESUME WAL');
        resumeWal(cursor, table);
        return table;
      case 'suspend':
        return suspendWal(cursor, table);
      case 'squash':
        this.#expectWord('partitions');
        return table;
      case 'attach':
      case 'detach':
      case 'convert':
      case 'force':
        throw new RejectionError(cursor.at, `sqlserve keeps no rows: nothing to ${verb}`);
      default:
        throw new RejectionError(cursor.at, verbs);
    }
  }

  #authorize(permission: string, columns?: readonly string[]): void {
    this.session.authorize(permission, this.table.name, columns);
  }

  #find(name: string): Column | undefined {
    return this.table.columns.find(column => column.name.toLowerCase() === name.toLowerCase());
  }

  #expectWord(word: string, problem = `'${word}' expected`): void {
    if (!isWord(this.cursor.requireNoSemicolon(`'${word}'`), word)) throw new RejectionError(this.cursor.at, problem);
  }

  #addColumns(): void {
    const { cursor } = this;
    if (!isWord(cursor.next(), 'column')) cursor.unread();
    do this.#addColumn(cursor.requireNoSemicolon("'column' or column name"));
    while (!this.#parseOwner() && this.#hasMore());
    this.#rejectSeveral(this.added.length);
  }

  /** Parses `OWNED BY name`, if it follows; it ends the columns. */
  #parseOwner(): boolean {
    const { cursor } = this;
    if (this.session.enterprise && isWord(cursor.next(), 'owned')) {
      cursor.expect('by');
      this.owner = parseEntityName(cursor, 'owner name').name;
      return true;
    }
    cursor.unread();
    return false;
  }

  /** A WAL table accepts one change of its structure per transaction. */
  #rejectSeveral(count: number): void {
    if (!this.table.wal || count < 2) return;
    const { name, structure = 0 } = this.table;
    throw new RejectionError(
      0,
      "statement is either no-op, or contains multiple transactions, such as 'alter table add column col1, col2', and " +
        `currently not supported for WAL tables [table=${name}, oldStructureVersion=${structure}, newStructureVersion=${structure + count}]`,
    );
  }

  #addColumn(first: string): void {
    const { cursor, table } = this;
    const optional = isWord(first, 'if');
    const name = unquote(optional ? this.#ifNotExists() : first);
    const position = cursor.at;
    const existing = this.#find(name);
    if (existing && !optional) throw new RejectionError(position, `column '${name}' already exists`);
    if (!isValidColumnName(name)) throw new RejectionError(position, ' new column name contains invalid characters');
    const { column, typePosition } = parseAddedColumn(cursor, name);
    if (!existing) {
      table.columns.push(column);
      this.added.push(column);
    } else if (existing.type !== column.type) {
      throw new RejectionError(
        typePosition,
        `column already exists with a different column type [current type=${existing.type}, requested type=${column.type}]`,
      );
    }
  }

  #ifNotExists(): string {
    const { cursor } = this;
    if (!isWord(cursor.next(), 'not')) throw new RejectionError(cursor.at, "'not' expected");
    const token = cursor.next();
    if (!isWord(token, 'exists')) throw new RejectionError(cursor.at, `unexpected token '${token}' for if not exists`);
    return cursor.requireNoSemicolon('column name');
  }

  /** Whether a comma follows. Anything else but the end is rejected. */
  #hasMore(): boolean {
    const token = this.cursor.next();
    if (token === ',') return true;
    if (token === undefined || (token === ';' && this.cursor.next() === undefined)) return false;
    throw new RejectionError(this.cursor.at, "',' expected");
  }

  #drop(): Table {
    const { cursor, table } = this;
    const token = cursor.requireNoSemicolon("'column' or 'partition'");
    if (this.session.enterprise && isWord(token, 'storage')) {
      this.#expectWord('policy');
      this.#authorize('REMOVE STORAGE POLICY');
      return { ...table, policy: undefined };
    }
    if (isWord(token, 'partition')) throw new RejectionError(cursor.at, 'sqlserve keeps no rows: nothing to drop');
    if (!isWord(token, 'column')) throw new RejectionError(cursor.at, "'column' or 'partition' expected");
    const names: string[] = [];
    do {
      const name = unquote(cursor.requireNoSemicolon('column name'));
      const column = this.#find(name);
      if (!column) throw new RejectionError(cursor.at, `Invalid column: ${name}`);
      if (column.name === table.timestamp) this.#dropTimestamp();
      names.push(column.name);
    } while (this.#hasMore());
    this.#rejectSeveral(names.length);
    this.#authorize('DROP COLUMN', names);
    const columns = table.columns.filter(column => !names.includes(column.name));
    return { ...table, columns, timestamp: this.#timestamp };
  }

  /** Only a table without WAL and without partitions can lose its designated timestamp. */
  #dropTimestamp(): void {
    this.#rejectTimestampOfWal('remove');
    if (this.table.partitionBy !== 'NONE')
      throw new RejectionError(0, 'cannot remove timestamp from partitioned table');
    this.#timestamp = undefined;
  }

  #rejectTimestampOfWal(verb: string): void {
    const { wal, name, timestamp } = this.table;
    if (!wal) return;
    throw new RejectionError(0, `cannot ${verb} designated timestamp column [table=${name}, column=${timestamp}]`);
  }

  #renameColumns(): void {
    let count = 0;
    do {
      this.#renameColumn(unquote(this.cursor.requireNoSemicolon('current column name')));
      count++;
    } while (this.#hasMore());
    this.#rejectSeveral(count);
  }

  #renameColumn(from: string): void {
    const { cursor } = this;
    const column = this.#find(from);
    if (!column) throw new RejectionError(cursor.at, `Invalid column: ${from}`);
    if (!isWord(cursor.requireNoSemicolon("'to' expected"), 'to'))
      throw new RejectionError(cursor.at, "'to' expected'");
    const to = unquote(cursor.requireNoSemicolon('new column name'));
    if (from === to) throw new RejectionError(cursor.at, 'new column name is identical to existing name');
    if (this.#find(to)) throw new RejectionError(cursor.at, ' column already exists');
    if (!isValidColumnName(to)) throw new RejectionError(cursor.at, ' new column name contains invalid characters');
    if (column.name === this.#timestamp) {
      this.#rejectTimestampOfWal('rename');
      this.#timestamp = to;
    }
    column.name = to;
  }

  #alterColumn(): void {
    const { cursor, table } = this;
    const position = cursor.readOffset;
    const name = unquote(cursor.requireNoSemicolon('column name'));
    const column = this.#find(name);
    if (!column) throw new RejectionError(position, `column '${name}' does not exist in table '${table.name}'`);
    const token = cursor.requireNoSemicolon(
      "'add index' or 'drop index' or 'type' or 'cache' or 'nocache' or 'symbol'",
    );
    const action = this.#columnActions(column, name, position)[token.toLowerCase()];
    if (!action) {
      throw new RejectionError(
        cursor.at,
        `'add', 'drop', 'set', 'symbol', 'cache' or 'nocache' expected found '${token}'`,
      );
    }
    action();
  }

  #columnActions(column: Column, name: string, position: number): Record<string, () => void> {
    const { cursor, table } = this;
    const requireSymbol = (what: string) => {
      if (column.type === 'SYMBOL') return;
      throw new RejectionError(
        position,
        `${what} only supported for symbol type [column=${name}, type=${column.type}]`,
      );
    };
    const cache = (cached: boolean) => () => {
      requireSymbol('cache is');
      this.#authorize('ALTER COLUMN CACHE', [column.name]);
      column.cached = cached;
    };
    return {
      add: () => {
        this.#expectWord('index');
        const index = this.#indexOptions();
        requireSymbol('indexes are');
        // QuestDB alters a WAL table later, when an existing index is no error.
        if (column.index && !table.wal)
          throw new RejectionError(this.position, `column is already indexed [column=${name}]`);
        this.#authorize('ADD INDEX', [column.name]);
        column.index = index;
      },
      drop: () => {
        this.#expectWord('index');
        this.#expectEnd('to drop index');
        requireSymbol('indexes are');
        if (!column.index && !table.wal) throw new RejectionError(position, `column is not indexed [column=${name}]`);
        this.#authorize('DROP INDEX', [column.name]);
        delete column.index;
      },
      cache: cache(true),
      nocache: cache(false),
      type: () => this.#changeType(column, name),
      symbol: () => {
        if (column.type !== 'SYMBOL') throw new RejectionError(position, `column '${name}' is not of symbol type`);
        this.#expectWord('capacity');
        parseSymbolCapacity(cursor, 'numeric capacity');
        this.#expectEnd('to change symbol capacity');
        this.#authorize('ALTER SYMBOL CAPACITY', [column.name]);
      },
      set: () => {
        this.#expectWord('parquet');
        column.parquet = parseParquet(cursor, column.type);
        this.#expectEnd('to set parquet encoding');
      },
    };
  }

  #indexOptions(): NonNullable<Column['index']> {
    const { cursor } = this;
    const token = cursor.next();
    if (isWord(token, 'type')) return parseIndexType(cursor, DEFAULTS);
    if (token === undefined || token === ';') return { type: 'BITMAP', capacity: DEFAULTS.indexCapacity };
    if (!isWord(token, 'capacity')) throw new RejectionError(cursor.at, "'capacity' expected");
    const capacity = parseInt32(cursor.requireNoSemicolon('capacity value'));
    if (capacity !== undefined && capacity > 0) return { type: 'BITMAP', capacity: ceilPow2(capacity) };
    throw new RejectionError(cursor.at, 'positive integer literal expected as index capacity');
  }

  #expectEnd(doing: string): void {
    const token = this.cursor.next();
    if (token === undefined) return;
    if (token === ';') return this.cursor.expectEnd();
    throw new RejectionError(this.cursor.at, `unexpected token [${token}] while trying ${doing}`);
  }

  #changeType(column: Column, name: string): void {
    const { cursor, table } = this;
    const { column: changed } = parseAddedColumn(cursor, name);
    this.#expectEnd('to change column type');
    if (column.name === table.timestamp) {
      throw new RejectionError(cursor.at, 'cannot change type of designated timestamp column');
    }
    if (changed.type === column.type)
      throw new RejectionError(cursor.at, `column '${name}' type is already '${column.type}'`);
    if (!isAcceptedConversion(column.type, changed.type)) {
      throw new RejectionError(
        cursor.at,
        `incompatible column type change [existing=${column.type}, new=${changed.type}]`,
      );
    }
    this.#authorize('ALTER COLUMN TYPE', [column.name]);
    const { dedup, name: own } = column;
    delete column.index;
    Object.assign(column, changed, { dedup, name: own });
  }

  #set(): Table {
    const { cursor, table } = this;
    const token = cursor.requireNoSemicolon("'param', 'ttl' or 'type'");
    if (isWord(token, 'param')) return this.#setParameter();
    if (isWord(token, 'ttl')) {
      const value = parseTtl(cursor);
      if (this.session.enterprise && value.ttl !== 0) {
        throw new RejectionError(
          value.position,
          'TTL settings are deprecated, please, create a storage policy instead',
        );
      }
      rejectUnevenTtl(table.partitionBy, value.ttl, value.position);
      this.#authorize('SET TABLE PARAM');
      return { ...table, ttl: value.ttl };
    }
    if (isWord(token, 'type')) return this.#setType();
    if (this.session.enterprise && isWord(token, 'storage')) return this.#setPolicy();
    if (isWord(token, 'format')) return this.#setFormat();
    throw new RejectionError(cursor.at, "'param' or 'type' expected");
  }

  /** Replaces the whole policy: stages that are not named are cleared. */
  #setPolicy(): Table {
    const policy = parseStoragePolicy(this.cursor, this.table.partitionBy);
    this.#authorize('SET STORAGE POLICY');
    return { ...this.table, policy };
  }

  #switchPolicy(disabled: boolean): Table {
    this.#expectWord('storage');
    this.#expectWord('policy');
    this.#authorize(`${disabled ? 'DISABLE' : 'ENABLE'} STORAGE POLICY`);
    const { policy, name } = this.table;
    if (!policy) throw new RejectionError(this.cursor.at, `table has no storage policy [table=${name}]`);
    return { ...this.table, policy: { ...policy, disabled } };
  }

  #setParameter(): Table {
    const { cursor } = this;
    const position = cursor.readOffset;
    const name = cursor.requireNoSemicolon('param name');
    if (cursor.requireNoSemicolon("'='") !== '=') throw new RejectionError(cursor.at, "'=' expected");
    const value = cursor.next() ?? '';
    this.#authorize('SET TABLE PARAM');
    if (isWord(name, 'maxuncommittedrows')) {
      const rows = parseInt32(value);
      if (rows === undefined) throw new RejectionError(position, `invalid value [value=${value},parameter=${name}]`);
      if (rows < 0) throw new RejectionError(position, 'maxUncommittedRows must be non negative');
    } else if (isWord(name, 'o3maxlag')) parseInterval(value, position);
    else throw new RejectionError(position, `unknown parameter '${name}'`);
    return this.table;
  }

  #setType(): Table {
    const { cursor, table } = this;
    const bypass = isWord(cursor.requireNoSemicolon("'bypass' or 'wal'"), 'bypass');
    if (bypass) this.#expectWord('wal');
    else if (!isWord(cursor.text.slice(cursor.at, cursor.end), 'wal'))
      throw new RejectionError(cursor.at, "'bypass' or 'wal' expected");
    this.#authorize('SET TABLE TYPE');
    if (table.partitionBy === 'NONE') throw new RejectionError(this.position, 'Cannot convert non-partitioned table');
    // The change would take effect when the server is restarted.
    return table;
  }

  #setFormat(): Table {
    const { cursor, table } = this;
    const token = cursor.requireNoSemicolon("'PARQUET' or 'NATIVE'");
    if (!isWord(token, 'parquet') && !isWord(token, 'native'))
      throw new RejectionError(cursor.at, "'PARQUET' or 'NATIVE' expected");
    if (isWord(token, 'parquet') && !table.wal) {
      throw new RejectionError(cursor.at, 'FORMAT PARQUET is only supported on WAL tables');
    }
    return { ...table, parquet: isWord(token, 'parquet') };
  }

  #dedup(): Table {
    const { cursor, table, position } = this;
    const token = cursor.requireNoSemicolon("'dedup columns'");
    if (isWord(token, 'disable')) {
      this.#authorize('DEDUP DISABLE');
      for (const column of table.columns) column.dedup = false;
      return table;
    }
    this.#authorize('DEDUP ENABLE');
    if (!table.wal) throw new RejectionError(position, 'deduplication is only supported for WAL tables');
    const upsert = isWord(token, 'enable') ? cursor.next() : token;
    if (!isWord(upsert, 'upsert')) throw new RejectionError(cursor.at, "expected 'upsert'");
    if (!isWord(cursor.next(), 'keys')) throw new RejectionError(cursor.at, "expected 'keys'");
    if (cursor.next() !== '(') throw new RejectionError(cursor.readOffset, 'deduplicate key column list expected');
    const keys = this.#dedupKeys();
    for (const column of table.columns) column.dedup = keys.has(column);
    return table;
  }

  #dedupKeys(): Set<Column> {
    const { cursor, table } = this;
    const keys = new Set<Column>();
    let token = cursor.next();
    const start = cursor.at;
    while (token !== undefined && token !== ')') {
      requireLiteral(token, cursor.at);
      const name = unquote(token);
      const column = this.#find(name);
      if (!column) throw new RejectionError(cursor.at, `deduplicate key column not found [column=${name}]`);
      keys.add(column);
      token = cursor.next();
      if (token === ',') token = cursor.next();
    }
    if (token !== ')') throw new RejectionError(cursor.readOffset, "')' expected");
    if (![...keys].some(({ name }) => name === table.timestamp)) {
      throw new RejectionError(start, 'deduplicate key list must include dedicated timestamp column');
    }
    return keys;
  }
}
