/*!
 * The type of a column, and what ALTER TABLE reads of a column that it adds or whose type it changes: fewer options than CREATE TABLE,
 * with other errors.
 */
import { canConvert, isAcceptedConversion } from '../conversions.js';
import type { Column } from '../definition.js';
import { type Cursor, isWord } from '../grammar/cursor.js';
import type { NameLookup } from '../grammar/lookup.js';
import { RejectionError } from '../grammar/rejection-error.js';
import { parseColumnType } from '../grammar/types.js';
import { EXPLICIT } from '../property.js';
import { type AlteredColumn, type ColumnProperty, expectEndWhile, type StatedColumn } from './column-property.js';
import { alteredCapacityParser, INDEX, parseIndexOptions } from './indexes.js';
import { CACHE, parseSymbolOptions, rejectCachedCapacity } from './symbol.js';

export const TYPE: ColumnProperty<'type', Omit<Column, 'name' | 'dedup' | 'parquet'>> = {
  name: '',
  value: ({ type }) => type || undefined,
  print: ({ type }) => ` ${type}`,
  alter: {
    actions: ['type'],
    syntax: { type: parseTypeChange },
    print: alteration => `TYPE${printAddedColumn(alteration)}`,
    // The index and the Parquet settings go (observed on 9.3.4).
    apply(column, { action: _, column: _name, ...changed }) {
      const { index: _index, parquet: _parquet, capacity: _capacity, ...kept } = column;
      return { ...kept, ...changed, cached: changed.type !== 'SYMBOL' || changed.cached };
    },
    permission: () => 'ALTER COLUMN TYPE',
    find({ name, type, cached, capacity }, now) {
      if (now.type === type || !canConvert(now.type, type)) return [];
      return [{ action: 'type', column: name, type, cached, ...(capacity !== undefined && { capacity }) }];
    },
  },
  unalterable: 'no conversion between these types: needs a new table',
};

/** What ADD COLUMN accepts after the name of a column. Parquet settings need an ALTER of their own. */
export const printAddedColumn = (column: StatedColumn): string =>
  [TYPE, CACHE, INDEX].map(({ print }) => print?.(column, EXPLICIT)).join('');

/** Parses the type and options after the name of a column. */
export function parseAddedColumn(
  cursor: Cursor,
  name: string,
  context: NameLookup,
): { column: Column; typePosition: number } {
  const token = cursor.requireNoSemicolon('column type');
  const typePosition = cursor.at;
  const column = newColumn(name, parseColumnType(cursor, token), context);
  if (cursor.accept(']')) throw unmatchedBracketError(name, typePosition);
  if (column.type === 'SYMBOL') parseAddedSymbol(cursor, column, context);
  // NULL and NOT NULL have no effect.
  else for (const word of ['not', 'null']) cursor.accept(word);
  return { column, typePosition };
}

export const newColumn = (name: string, type: string, { defaults }: Pick<NameLookup, 'defaults'>): Column => ({
  name,
  type,
  cached: type !== 'SYMBOL' || defaults.symbolCached,
  dedup: false,
});

export const unmatchedBracketError = (name: string, position: number): RejectionError =>
  new RejectionError(position, `${name} has an unmatched \`]\` - were you trying to define an array?`);

function parseAddedSymbol(cursor: Cursor, column: Column, context: NameLookup): void {
  parseSymbolOptions(cursor, column);
  const token = cursor.next();
  rejectCachedCapacity(column, cursor.at);
  const parseCapacity = alteredCapacityParser('symbol index capacity', 'numeric capacity expected');
  if (isWord(token, 'index')) column.index = parseIndexOptions(cursor, cursor.next(), context, { parseCapacity });
  // The CAPACITY of an index is accepted even without INDEX (observed on 9.3.4).
  else if (isWord(token, 'capacity')) parseCapacity(cursor);
  else cursor.unread();
}

function parseTypeChange(cursor: Cursor, lookup: NameLookup, altered: AlteredColumn) {
  const { object, name, column } = altered;
  const { type, cached, capacity, index } = parseAddedColumn(cursor, name, lookup).column;
  expectEndWhile(cursor, altered, 'to change column type');
  if (column) {
    if (column.name === object.timestamp) throw cursor.error('cannot change type of designated timestamp column');
    if (column.type === type) throw cursor.error(`column '${name}' type is already '${type}'`);
    if (!isAcceptedConversion(column.type, type))
      throw cursor.error(`incompatible column type change [existing=${column.type}, new=${type}]`);
  }
  const options = { ...(capacity !== undefined && { capacity }), ...(index && { index }) };
  return { action: 'type', column: name, type, cached, ...options } as const;
}
