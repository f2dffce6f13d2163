/*!
 * ALTER TABLE. QuestDB checks a statement against the table while it parses it, so that an unknown column is rejected
 * before the text after it is parsed: here too, parsing and checking are one step.
 */
import { isSameName } from '@sqlpipe/sql';
import type { Alteration } from '../alteration.js';
import { parseAddedColumn } from '../columns/type.js';
import type { Column } from '../definition.js';
import { type Cursor, isWord } from '../grammar/cursor.js';
import { type FoundObject, type NameLookup, parseAlteredObject } from '../grammar/lookup.js';
import { isValidColumnName, parseEntityName, unquoteToken } from '../grammar/names.js';
import { RejectionError } from '../grammar/rejection-error.js';
import { parsePropertyAlteration } from '../properties/object-properties.js';
import { type ChangeStatement, toAlter } from './change.js';
import { parseColumnAlteration } from './parse-alter-column.js';
import { parsePartitions } from './parse-maintenance.js';
import { parseWalChange } from './parse-wal.js';

const VERBS = "'add', 'alter', 'attach', 'detach', 'drop', 'convert', 'resume', 'rename', 'set' or 'squash'";

export function parseAlterTable(cursor: Cursor, lookup: NameLookup): ChangeStatement {
  return new TableParser(cursor, lookup, parseAlteredObject(cursor, lookup, 'table')).parse();
}

class TableParser {
  /** The columns, if they are known, as the statement has changed them so far. */
  readonly #columns: Column[] | undefined;
  /** The current name of the designated timestamp. */
  #timestamp: string | undefined;

  constructor(
    readonly cursor: Cursor,
    readonly lookup: NameLookup,
    readonly found: FoundObject,
    readonly table = found.object,
  ) {
    this.#columns = table.columns?.map(column => ({ ...column }));
    this.#timestamp = table.timestamp;
  }

  parse(): ChangeStatement {
    const { cursor, table, lookup, found } = this;
    const { name } = found;
    const verb = cursor.requireNoSemicolon(VERBS).toLowerCase();
    switch (verb) {
      case 'add':
        return this.#addColumns();
      case 'drop':
        return this.#drop();
      case 'rename':
        cursor.expect('column');
        return this.#renameColumns();
      case 'alter':
        if (!isWord(cursor.requireNoSemicolon("'column'"), 'column'))
          throw cursor.error("'column' or 'partition' expected");
        return toAlter(found, parseColumnAlteration(cursor, lookup, found));
      case 'set':
        return this.#set();
      case 'dedup':
      case 'deduplicate':
        return this.#property(verb) as ChangeStatement;
      case 'enable':
      case 'disable':
        if (lookup.isEnterprise === false) break;
        cursor.expect('storage');
        return this.#property(`${verb} storage`) as ChangeStatement;
      case 'squash':
        cursor.expect('partitions');
        return { verb: 'squash partitions', name };
      case 'attach':
      case 'detach':
      case 'convert':
        cursor.expect('partition');
        return { name, ...parsePartitions(cursor, table, `${verb} partition`) };
      case 'force':
        cursor.expect('drop');
        cursor.expect('partition');
        return { name, ...parsePartitions(cursor, table, 'force drop partition') };
    }
    const walChange = parseWalChange(cursor, lookup, verb, found);
    if (!walChange) throw cursor.error(`${VERBS} expected`);
    return walChange;
  }

  #property(words: string): ChangeStatement | undefined {
    const alteration = parsePropertyAlteration(words, this.cursor, this.lookup, this.found);
    return alteration && toAlter(this.found, alteration);
  }

  #existing(name: string): Column | undefined {
    return this.#columns?.find(column => isSameName(column.name, name));
  }

  /** Parses the name of a column; if the columns are known, it has to be one of them. */
  #parseColumn(expected: string): { name: string; column: Column | undefined } {
    const name = unquoteToken(this.cursor.requireNoSemicolon(expected));
    const column = this.#existing(name);
    if (this.#columns && !column) throw this.cursor.error(`Invalid column: ${name}`);
    return { name, column };
  }

  /** Parses a comma-separated list to the end of the statement, or to where `isLast` says that it ends. */
  #list<T>(parseItem: () => T, isLast = () => false): T[] {
    const items = [parseItem()];
    while (!isLast() && this.#hasMore()) items.push(parseItem());
    return items;
  }

  /** Whether a comma follows. Anything else but the end is rejected. */
  #hasMore(): boolean {
    const token = this.cursor.next();
    if (token === ',') return true;
    if (token === undefined || (token === ';' && this.cursor.next() === undefined)) return false;
    throw this.cursor.error("',' expected");
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

  #addColumns(): ChangeStatement {
    const { cursor } = this;
    cursor.accept('column');
    let owner: string | undefined;
    const columns = this.#list(
      () => this.#addColumn(cursor.requireNoSemicolon("'column' or column name")),
      () => {
        owner = this.#parseOwner();
        return owner !== undefined;
      },
    );
    if (this.#columns) this.#rejectSeveral(this.#columns.length - (this.table.columns?.length ?? 0));
    return toAlter(this.found, ...columns.map(column => ({ action: 'add column', column, owner }) as const));
  }

  /** Parses `OWNED BY name`, if it follows; it ends the columns. */
  #parseOwner(): string | undefined {
    const { cursor } = this;
    if (this.lookup.isEnterprise === false) return undefined;
    if (!cursor.accept('owned')) return undefined;
    cursor.expect('by');
    return parseEntityName(cursor, 'owner name').name;
  }

  #addColumn(first: string): Column {
    const { cursor } = this;
    const optional = isWord(first, 'if');
    const name = unquoteToken(optional ? this.#ifNotExists() : first);
    const position = cursor.at;
    const existing = this.#existing(name);
    if (existing && !optional) throw new RejectionError(position, `column '${name}' already exists`);
    if (!isValidColumnName(name)) throw new RejectionError(position, ' new column name contains invalid characters');
    const { column, typePosition } = parseAddedColumn(cursor, name, this.lookup);
    if (!existing) this.#columns?.push(column);
    else if (existing.type !== column.type) {
      throw new RejectionError(
        typePosition,
        `column already exists with a different column type [current type=${existing.type}, requested type=${column.type}]`,
      );
    }
    return column;
  }

  #ifNotExists(): string {
    const { cursor } = this;
    if (!isWord(cursor.next(), 'not')) throw cursor.error("'not' expected");
    const token = cursor.next();
    if (!isWord(token, 'exists')) throw cursor.error(`unexpected token '${token}' for if not exists`);
    return cursor.requireNoSemicolon('column name');
  }

  #drop(): ChangeStatement {
    const { cursor, table, found } = this;
    const token = cursor.requireNoSemicolon("'column' or 'partition'");
    const property = this.#property(`drop ${token}`);
    if (property) return property;
    if (isWord(token, 'partition')) return { name: found.name, ...parsePartitions(cursor, table, 'drop partition') };
    if (!isWord(token, 'column')) throw cursor.error("'column' or 'partition' expected");
    const names = this.#list(() => {
      const { name, column } = this.#parseColumn('column name');
      if (column && column.name === this.#timestamp) this.#rejectDropOfTimestamp();
      return name;
    });
    this.#rejectSeveral(names.length);
    return toAlter(found, ...names.map(column => ({ action: 'drop column', column }) as const));
  }

  /** Only a table without WAL and without partitions can lose its designated timestamp. */
  #rejectDropOfTimestamp(): void {
    this.#rejectTimestampOfWal('remove');
    if (this.table.partitionBy === 'NONE') return;
    throw new RejectionError(0, 'cannot remove timestamp from partitioned table');
  }

  #rejectTimestampOfWal(verb: string): void {
    const { wal, name, timestamp } = this.table;
    if (!wal) return;
    throw new RejectionError(0, `cannot ${verb} designated timestamp column [table=${name}, column=${timestamp}]`);
  }

  #renameColumns(): ChangeStatement {
    const alterations = this.#list(() => this.#renameColumn());
    this.#rejectSeveral(alterations.length);
    return toAlter(this.found, ...alterations);
  }

  #renameColumn(): Alteration {
    const { cursor } = this;
    const { name, column } = this.#parseColumn('current column name');
    if (!isWord(cursor.requireNoSemicolon("'to' expected"), 'to')) throw cursor.error("'to' expected'");
    const to = unquoteToken(cursor.requireNoSemicolon('new column name'));
    if (name === to) throw cursor.error('new column name is identical to existing name');
    if (this.#existing(to)) throw cursor.error(' column already exists');
    if (!isValidColumnName(to)) throw cursor.error(' new column name contains invalid characters');
    if (column) {
      if (column.name === this.#timestamp) {
        this.#rejectTimestampOfWal('rename');
        this.#timestamp = to;
      }
      column.name = to;
    }
    return { action: 'rename column', column: name, to };
  }

  #set(): ChangeStatement {
    const token = this.cursor.requireNoSemicolon("'param', 'ttl' or 'type'");
    if (isWord(token, 'type')) return this.#setType();
    const property = this.#property(`set ${token}`);
    if (property) return property;
    throw this.cursor.error("'param' or 'type' expected");
  }

  #setType(): ChangeStatement {
    const { cursor, table, found } = this;
    const wal = cursor.requireWord('bypass', 'wal') === 'wal';
    if (!wal) cursor.expect('wal');
    if (table.partitionBy === 'NONE') throw new RejectionError(found.position, 'Cannot convert non-partitioned table');
    return { verb: 'set type', name: found.name, wal };
  }
}
