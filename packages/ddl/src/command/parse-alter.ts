/*! Parses ALTER. As in QuestDB, an unknown column is rejected before a later syntax error. Odd wording in messages is QuestDB's. */
import { isSameName, type LocatedName } from '@sqlpipe/sql';
import { COLUMN_PROPERTIES } from '../columns/column-properties.js';
import { parseAddedColumn } from '../columns/type.js';
import type { Column } from '../definition.js';
import { expectEndOfBody, parseViewBody } from '../parser/body.js';
import { type Cursor, isWord, RejectionError } from '../parser/cursor.js';
import { type FoundObject, findKind, type NameLookup, requireObject, stripPublicIfAccepted } from '../parser/lookup.js';
import { isValidColumnName, parseEntityName, rejectReserved, unquoteToken } from '../parser/names.js';
import { parseAge, parseInt64 } from '../parser/numbers.js';
import { parsePartitionName } from '../parser/partition-name.js';
import { propertiesOf } from '../properties/object-properties.js';
import type { Alteration } from './alteration.js';
import { type Command, type PartitionCommand, toAlter } from './command.js';

/** Parses the text after ALTER. Like the server, it looks for the object before it reads the rest. */
export function parseAlter(cursor: Cursor, lookup: NameLookup): Command {
  const token = cursor.next();
  const kind = findKind(token, lookup);
  if (!kind) throw cursor.errorAt(token, "'table' or 'materialized' or 'view' expected");
  if (kind === 'materialized view' && !isWord(cursor.requireNoSemicolon("'view'"), 'view'))
    throw cursor.error("'view' expected'");
  if (kind === 'live view') cursor.expect('view');
  const position = cursor.reach;
  const nameToken = stripPublicIfAccepted(cursor, lookup, cursor.requireNoSemicolon(`${kind} name`));
  rejectReserved(nameToken, position);
  const name = unquoteToken(nameToken);
  const object = requireObject(lookup, kind, name, position, cursor.start);
  const command = new AlterParser(cursor, lookup, { name, position, object }).parse();
  cursor.expectEnd();
  return command;
}

/** By kind: the words after the name, in the server's message. */
const ACTIONS = {
  table: "'add', 'alter', 'attach', 'detach', 'drop', 'convert', 'resume', 'rename', 'set' or 'squash'",
  view: "'as'",
  'materialized view': "'alter' or 'resume' or 'suspend'",
  'live view': "'set', 'drop', 'convert', 'resume' or 'suspend'",
};
const WORDS_AFTER_TABLE_COLUMN = "'add index' or 'drop index' or 'type' or 'cache' or 'nocache' or 'symbol'";
const WORDS_AFTER_VIEW_COLUMN = "'symbol capacity', 'add index' or 'drop index'";

/** Parses an ALTER after the name of its object. */
class AlterParser {
  /** The columns after the parsed ADDs and RENAMEs, if known. A dropped column stays, because `DROP COLUMN x, x` is no parse error. */
  readonly #columns: Column[] | undefined;
  readonly #timestamp: Column | undefined;

  constructor(
    readonly cursor: Cursor,
    readonly lookup: NameLookup,
    readonly found: FoundObject,
    readonly object = found.object,
  ) {
    this.#columns = object.columns?.map(column => ({ ...column }));
    this.#timestamp = this.#columns?.find(({ name }) => name === object.timestamp);
  }

  parse(): Command {
    const { cursor } = this;
    const expected = ACTIONS[this.object.kind];
    const word = cursor.requireNoSemicolon(expected).toLowerCase();
    const command = this.#parseWal(word) ?? this.#parseProperty(word) ?? this.#parseAction(word);
    if (!command) throw cursor.error(`${expected} expected`);
    return command;
  }

  /** The server has no ALTER for the query or the columns of a live view. */
  #parseAction(word: string): Command | undefined {
    const { cursor, found, object } = this;
    switch (`${object.kind} ${word}` as const) {
      case 'table add':
        return this.#parseAddColumns();
      case 'table drop':
        return this.#parseDrop();
      case 'table rename':
        cursor.expect('column');
        return this.#parseRenameColumns();
      case 'table alter':
        if (!isWord(cursor.requireNoSemicolon("'column'"), 'column'))
          throw cursor.error("'column' or 'partition' expected");
        return this.#parseAlterColumn();
      case 'materialized view alter':
        cursor.expect('column');
        return this.#parseAlterColumn();
      case 'table set':
      case 'materialized view set':
      case 'live view set':
        return this.#parseSet();
      case 'table squash':
        cursor.expect('partitions');
        return { action: 'squash partitions', name: found.name };
      case 'table attach':
      case 'table detach':
      case 'table convert':
      case 'live view drop':
      case 'live view convert':
        cursor.expect('partition');
        return this.#parsePartitions(word);
      case 'table force':
        cursor.expect('drop', 'partition');
        return this.#parsePartitions('force drop');
      case 'live view force':
        throw cursor.error('FORCE DROP PARTITION is not supported on live views');
      case 'view as': {
        const body = parseViewBody(cursor, this.lookup.checkQuery);
        expectEndOfBody(cursor, body);
        return toAlter(found, { action: 'query', body: body.text });
      }
    }
    return undefined;
  }

  #parseSet(): Command {
    const { cursor, found, lookup, object } = this;
    const { kind, partitionBy } = object;
    const wordsOfView = kind === 'live view' ? "'ttl'" : "'ttl' or 'refresh'";
    const words = kind === 'table' ? "'param', 'ttl' or 'type'" : wordsOfView;
    const token = cursor.requireNoSemicolon(words);
    if (kind === 'table' && isWord(token, 'type')) {
      const wal = cursor.requireWord('bypass', 'wal') === 'wal';
      if (!wal) cursor.expect('wal');
      if (partitionBy !== 'NONE') return { action: 'set type', name: found.name, wal };
      throw new RejectionError(found.position, 'Cannot convert non-partitioned table');
    }
    if (kind === 'materialized view' && isWord(token, 'refresh') && cursor.accept('limit')) {
      parseAge(cursor);
      return { action: 'set refresh limit', name: found.name };
    }
    const command = this.#parseProperty(`set ${token}`);
    if (command) return command;
    if (kind === 'materialized view' && isWord(token, 'storage') && lookup.hasFeature('storage policies'))
      throw cursor.error('storage policy is not supported for materialized views');
    throw cursor.error(`${kind === 'table' ? "'param' or 'type'" : wordsOfView} expected`);
  }

  /** Parses the ALTER of a property after its first words, such as `set ttl` or `dedup`. Undefined if the server has no such ALTER. */
  #parseProperty(words: string): Command | undefined {
    const { cursor, lookup, found } = this;
    const key = words.toLowerCase();
    const supported = propertiesOf(this.object.kind).filter(({ feature }) => !feature || lookup.hasFeature(feature));
    const parse = supported.find(({ alter }) => alter && Object.hasOwn(alter.syntax, key))?.alter?.syntax[key];
    return parse && toAlter(found, parse(cursor, lookup, found));
  }

  #findColumn(name: string): Column | undefined {
    return this.#columns?.find(column => isSameName(column.name, name));
  }

  #parseColumn(expected: string): { name: string; column: Column | undefined } {
    const name = unquoteToken(this.cursor.requireNoSemicolon(expected));
    const column = this.#findColumn(name);
    if (this.#columns && !column) throw this.cursor.error(`Invalid column: ${name}`);
    return { name, column };
  }

  /** Parses a comma-separated list. @param parseEnd called after each item; parses a clause that ends the list, if there is one */
  #parseList<T>(parseItem: () => T, parseEnd = () => false): T[] {
    const items = [parseItem()];
    while (!parseEnd()) {
      const token = this.cursor.next();
      if (token === undefined || (token === ';' && this.cursor.next() === undefined)) break;
      if (token !== ',') throw this.cursor.error("',' expected");
      items.push(parseItem());
    }
    return items;
  }

  /** Rejects a statement that changes more than one column of a WAL table. */
  #rejectMultipleChanges(count: number): void {
    if (!this.object.wal || count < 2) return;
    const { name, structureVersion = 0 } = this.object;
    throw new RejectionError(
      0,
      "statement is either no-op, or contains multiple transactions, such as 'alter table add column col1, col2', and " +
        `currently not supported for WAL tables [table=${name}, oldStructureVersion=${structureVersion}, newStructureVersion=${structureVersion + count}]`,
    );
  }

  #parseAddColumns(): Command {
    const { cursor, lookup } = this;
    cursor.accept('column');
    let owner: string | undefined;
    const columns = this.#parseList(
      () => this.#parseAddColumn(),
      () => {
        if (!lookup.hasFeature('owners') || !cursor.accept('owned')) return false;
        cursor.expect('by');
        owner = parseEntityName(cursor, 'owner name').name;
        return true;
      },
    );
    if (this.#columns) this.#rejectMultipleChanges(this.#columns.length - (this.object.columns?.length ?? 0));
    return toAlter(this.found, ...columns.map(column => ({ action: 'add column', column, owner }) as const));
  }

  #parseAddColumn(): Column {
    const { cursor } = this;
    let token = cursor.requireNoSemicolon("'column' or column name");
    const isOptional = isWord(token, 'if');
    if (isOptional) {
      if (!isWord(cursor.next(), 'not')) throw cursor.error("'not' expected");
      const exists = cursor.next();
      if (!isWord(exists, 'exists')) throw cursor.error(`unexpected token '${exists}' for if not exists`);
      token = cursor.requireNoSemicolon('column name');
    }
    const name = unquoteToken(token);
    const position = cursor.start;
    const existing = this.#findColumn(name);
    if (existing && !isOptional) throw new RejectionError(position, `column '${name}' already exists`);
    if (!isValidColumnName(name)) throw new RejectionError(position, ' new column name contains invalid characters');
    const { column, typePosition } = parseAddedColumn(cursor, name, this.lookup);
    if (!existing) this.#columns?.push(column);
    else if (existing.type !== column.type)
      throw new RejectionError(
        typePosition,
        `column already exists with a different column type [current type=${existing.type}, requested type=${column.type}]`,
      );
    return column;
  }

  #parseDrop(): Command {
    const { cursor, found, object } = this;
    const token = cursor.requireNoSemicolon("'column' or 'partition'");
    const property = this.#parseProperty(`drop ${token}`);
    if (property) return property;
    if (isWord(token, 'partition')) return this.#parsePartitions('drop');
    if (!isWord(token, 'column')) throw cursor.error("'column' or 'partition' expected");
    const names = this.#parseList(() => {
      const { name, column } = this.#parseColumn('column name');
      if (this.#changesTimestamp(column, 'remove') && object.partitionBy !== 'NONE')
        throw new RejectionError(0, 'cannot remove timestamp from partitioned table');
      return name;
    });
    this.#rejectMultipleChanges(names.length);
    return toAlter(found, ...names.map(column => ({ action: 'drop column', column }) as const));
  }

  #changesTimestamp(column: Column | undefined, change: string): boolean {
    const { wal, name, timestamp } = this.object;
    if (!column || column !== this.#timestamp) return false;
    if (!wal) return true;
    throw new RejectionError(0, `cannot ${change} designated timestamp column [table=${name}, column=${timestamp}]`);
  }

  #parseRenameColumns(): Command {
    const { cursor } = this;
    const alterations = this.#parseList((): Alteration => {
      const { name, column } = this.#parseColumn('current column name');
      // At the end of the text, QuestDB's message has `expected` twice.
      if (!isWord(cursor.requireNoSemicolon("'to' expected"), 'to')) throw cursor.error("'to' expected'");
      const to = unquoteToken(cursor.requireNoSemicolon('new column name'));
      if (name === to) throw cursor.error('new column name is identical to existing name');
      if (this.#findColumn(to)) throw cursor.error(' column already exists');
      if (!isValidColumnName(to)) throw cursor.error(' new column name contains invalid characters');
      this.#changesTimestamp(column, 'rename');
      if (column) column.name = to;
      return { action: 'rename column', column: name, to };
    });
    this.#rejectMultipleChanges(alterations.length);
    return toAlter(this.found, ...alterations);
  }

  #parseAlterColumn(): Command {
    const { cursor, lookup, found, object } = this;
    const isTable = object.kind === 'table';
    const position = cursor.reach;
    const given = cursor.requireNoSemicolon('column name');
    const name = lookup.hasFeature('quoted ALTER COLUMN') ? unquoteToken(given) : given;
    const column = this.#findColumn(name);
    if (object.columns && !column)
      throw new RejectionError(position, `column '${name}' does not exist in ${object.kind} '${object.name}'`);
    const token = cursor.requireNoSemicolon(isTable ? WORDS_AFTER_TABLE_COLUMN : WORDS_AFTER_VIEW_COLUMN);
    const word = token.toLowerCase();
    const properties = COLUMN_PROPERTIES.filter(({ alter }) => isTable || alter.worksOnViews);
    const parse = properties.find(({ alter }) => Object.hasOwn(alter.syntax, word))?.alter.syntax[word];
    if (parse)
      return toAlter(found, parse(cursor, lookup, { object, name, column, position, objectPosition: found.position }));
    throw cursor.error(
      isTable
        ? `'add', 'drop', 'set', 'symbol', 'cache' or 'nocache' expected found '${token}'`
        : `${WORDS_AFTER_VIEW_COLUMN} expected`,
    );
  }

  /** Parses RESUME, SUSPEND or REBASE WAL after its first word; undefined for any other. The messages about REBASE are documented. */
  #parseWal(word: string): Command | undefined {
    const { cursor, object } = this;
    const { hasFeature } = this.lookup;
    const { name } = this.found;
    if (object.kind === 'view' || !['resume', 'suspend', 'rebase'].includes(word)) return undefined;
    if (word === 'rebase' && (object.kind === 'live view' || !hasFeature('rebase'))) return undefined;
    cursor.expect('wal');
    if (object.wal === false) throw cursor.error(`${object.name} is not a WAL table.`);
    if (word === 'resume') return { action: 'resume wal', name, skips: this.#acceptFromTransaction() };
    if (word === 'suspend') {
      if (!hasFeature('suspend')) throw new RejectionError(0, 'Cannot suspend table, database is not in dev mode');
      return { action: 'suspend wal', name };
    }
    if (cursor.accept('into')) throw cursor.error('REBASE WAL INTO is only supported on a read-only replica');
    if (object.kind === 'table' && object.columns && !object.isSuspended)
      throw new RejectionError(0, 'REBASE WAL requires the table to be suspended first');
    return { action: 'rebase wal', name };
  }

  #acceptFromTransaction(): boolean {
    const { cursor } = this;
    const from = cursor.next();
    if (from === undefined || from === ';') return false;
    cursor.expectToken(from, 'from');
    cursor.requireWord('transaction', 'txn');
    const value = cursor.requireNoSemicolon('transaction value');
    if (parseInt64(value) === undefined) throw cursor.error(`invalid value [value=${value}]`);
    return true;
  }

  /** Parses the text after PARTITION. Skips a condition (after WHERE), and the options that newer versions accept (after WITH). */
  #parsePartitions(words: string): PartitionCommand {
    const { cursor, object } = this;
    const position = cursor.start;
    if (words === 'convert') cursor.expect('to');
    const format = words === 'convert' ? ` to ${cursor.requireWord('parquet', 'native')}` : '';
    if (object.partitionBy === 'NONE' && words !== 'force drop') throw cursor.error('table is not partitioned');
    const action = `${words} partition${format}` as PartitionCommand['action'];
    const command = { action, kind: object.kind, name: this.found.name, position };
    if (cursor.requireWord('list', 'where') === 'list') return { ...command, partitions: [...this.#readPartitions()] };
    cursor.skipRest();
    return command;
  }

  *#readPartitions(): Generator<LocatedName> {
    const { cursor } = this;
    for (let isLast = false; !isLast; ) {
      const token = cursor.requireNoSemicolon('partition name');
      if (token === ',') throw cursor.error('partition name missing');
      const { name, problem } = parsePartitionName(unquoteToken(token), this.object.partitionBy);
      if (problem !== undefined) throw cursor.error(problem);
      yield { name, start: cursor.start };
      const next = cursor.next() ?? ';';
      isLast = next === ';' || isWord(next, 'with');
      if (isLast) cursor.skipRest();
      else cursor.expectToken(next, ',');
    }
  }
}
