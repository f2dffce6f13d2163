/*! ALTER TABLE … ALTER COLUMN. */
import type { Alteration } from '../alteration.js';
import { isAcceptedConversion } from '../conversions.js';
import { parseTypedIndex, rejectBadCover } from '../create/columns.js';
import type { Column, Index } from '../definition.js';
import { type Cursor, expectWord, isWord } from '../grammar/cursor.js';
import { ceilPow2, parseInt32 } from '../grammar/numbers.js';
import { parseParquet } from '../grammar/parquet.js';
import { RejectionError } from '../grammar/rejection-error.js';
import type { KnownObject, NameLookup } from './lookup.js';
import { parseAddedColumn, parseSymbolCapacity } from './parse-added-column.js';

/** A column that is changed: its name as written, and the column if the columns of its table are known. */
export interface AlteredColumn {
  readonly table: KnownObject;
  readonly name: string;
  readonly column: Column | undefined;
  /** Where rejections of the column point, and those of an index that exists. */
  readonly position: number;
  readonly tablePosition: number;
}

/** Parses what is changed, after the name of a column. */
export function parseColumnAlteration(cursor: Cursor, lookup: NameLookup, altered: AlteredColumn): Alteration {
  const { table, name, column, position, tablePosition } = altered;
  const token = cursor.requireNoSemicolon("'add index' or 'drop index' or 'type' or 'cache' or 'nocache' or 'symbol'");
  const requireSymbol = (what: string): void => {
    if (!column || column.type === 'SYMBOL') return;
    throw new RejectionError(position, `${what} only supported for symbol type [column=${name}, type=${column.type}]`);
  };
  switch (token.toLowerCase()) {
    case 'add': {
      expectWord(cursor, 'index');
      const index = parseIndexOptions(cursor, lookup);
      requireSymbol('indexes are');
      if (table.columns) rejectBadCover({ name, index }, table.columns, 'does not exist');
      // QuestDB alters a WAL table later, when an existing index is no error.
      if (column?.index && !table.wal)
        throw new RejectionError(tablePosition, `column is already indexed [column=${name}]`);
      return { change: 'add index', column: name, index };
    }
    case 'drop':
      expectWord(cursor, 'index');
      expectEndWhile(cursor, 'to drop index');
      requireSymbol('indexes are');
      if (column && !column.index && !table.wal)
        throw new RejectionError(position, `column is not indexed [column=${name}]`);
      return { change: 'drop index', column: name };
    case 'cache':
    case 'nocache':
      requireSymbol('cache is');
      return { change: 'cache', column: name, cached: isWord(token, 'cache') };
    case 'type':
      return parseTypeChange(cursor, lookup, altered);
    case 'symbol': {
      if (column && column.type !== 'SYMBOL')
        throw new RejectionError(position, `column '${name}' is not of symbol type`);
      expectWord(cursor, 'capacity');
      const capacity = parseSymbolCapacity(cursor, 'numeric capacity');
      expectEndWhile(cursor, 'to change symbol capacity');
      return { change: 'symbol capacity', column: name, capacity };
    }
    case 'set': {
      expectWord(cursor, 'parquet');
      const parquet = parseParquet(cursor, column?.type);
      expectEndWhile(cursor, 'to set parquet encoding');
      return { change: 'parquet settings', column: name, parquet };
    }
    default:
      throw new RejectionError(
        cursor.at,
        `'add', 'drop', 'set', 'symbol', 'cache' or 'nocache' expected found '${token}'`,
      );
  }
}

function parseIndexOptions(cursor: Cursor, lookup: NameLookup): Index {
  const { defaults } = lookup;
  const token = cursor.next();
  const typed = parseTypedIndex(cursor, token, lookup);
  if (typed) return typed;
  if (token === undefined || token === ';') return { type: 'BITMAP', capacity: defaults.indexCapacity };
  if (!isWord(token, 'capacity')) throw new RejectionError(cursor.at, "'capacity' expected");
  const capacity = parseInt32(cursor.requireNoSemicolon('capacity value'));
  if (capacity !== undefined && capacity > 0) return { type: 'BITMAP', capacity: ceilPow2(capacity) };
  throw new RejectionError(cursor.at, 'positive integer literal expected as index capacity');
}

function parseTypeChange(cursor: Cursor, lookup: NameLookup, { table, name, column }: AlteredColumn): Alteration {
  const { type, cached, capacity, index } = parseAddedColumn(cursor, name, lookup).column;
  expectEndWhile(cursor, 'to change column type');
  if (column) {
    if (column.name === table.timestamp)
      throw new RejectionError(cursor.at, 'cannot change type of designated timestamp column');
    if (column.type === type) throw new RejectionError(cursor.at, `column '${name}' type is already '${type}'`);
    if (!isAcceptedConversion(column.type, type))
      throw new RejectionError(cursor.at, `incompatible column type change [existing=${column.type}, new=${type}]`);
  }
  const options = { ...(capacity !== undefined && { capacity }), ...(index && { index }) };
  return { change: 'type', column: name, type, cached, ...options };
}

function expectEndWhile(cursor: Cursor, doing: string): void {
  const token = cursor.next();
  if (token === undefined) return;
  if (token === ';') return cursor.expectEnd();
  throw new RejectionError(cursor.at, `unexpected token [${token}] while trying ${doing}`);
}
