/*! The type of a column, and the options of a SYMBOL. ALTER TABLE accepts fewer options than CREATE TABLE, and has other messages. */

import type { Column } from '../definition.js';
import { type Cursor, isWord, RejectionError } from '../parser/cursor.js';
import type { NameLookup } from '../parser/lookup.js';
import { parseInt32, parseIntToken, roundUpToPowerOf2 } from '../parser/numbers.js';
import { parseColumnType } from '../parser/types.js';
import { EXPLICIT } from '../property.js';
import { type AlteredColumn, type ColumnProperty, expectEndOfAlter, requireSymbol } from './column-property.js';
import { canConvert, isAcceptedConversion } from './conversions.js';
import { createCapacityParser, INDEX, parseIndexOptions } from './indexes.js';

export const TYPE: ColumnProperty<'type', Omit<Column, 'name' | 'dedup' | 'parquet'>> = {
  suffix: '',
  value: ({ type }) => type || undefined,
  print: ({ type }) => ` ${type}`,
  alter: {
    actions: ['type'],
    syntax: { type: parseTypeChange },
    print: alteration => `TYPE${printAddedColumn(alteration)}`,
    // The former index and Parquet settings are dropped (observed on 9.3.4), and so is the capacity of a former SYMBOL.
    apply(column, { action: _, column: _name, ...changed }) {
      const { index: _index, parquet: _parquet, capacity: _capacity, ...kept } = column;
      return { ...kept, ...changed, cached: changed.type !== 'SYMBOL' || changed.cached };
    },
    permissions: ['ALTER COLUMN TYPE'],
    between({ name, type, cached, capacity }, current) {
      if (current.type === type || !canConvert(current.type, type)) return [];
      return [{ action: 'type', column: name, type, cached, ...(capacity !== undefined && { capacity }) }];
    },
  },
  unalterable: { reason: 'no conversion between these types', needsNewTable: true },
};

/** Prints what ADD COLUMN accepts after the name of a column. Parquet settings are left out: they need an ALTER of their own. */
export const printAddedColumn = (column: Omit<Column, 'name' | 'dedup'>): string =>
  [TYPE, CACHE, INDEX].map(({ print }) => print?.(column, EXPLICIT)).join('');

export function parseAddedColumn(cursor: Cursor, name: string, lookup: NameLookup) {
  const type = cursor.requireNoSemicolon('column type');
  const typePosition = cursor.start;
  const column = newColumn(name, parseColumnType(cursor, type, true), lookup);
  if (cursor.accept(']')) throw unmatchedBracketError(name, typePosition);
  if (column.type === 'SYMBOL') {
    parseSymbolOptions(cursor, column);
    const token = cursor.next();
    rejectCachedCapacity(column, cursor.start);
    const parseCapacity = createCapacityParser('symbol index capacity', 'numeric capacity expected');
    if (isWord(token, 'index')) column.index = parseIndexOptions(cursor, cursor.next(), lookup, { parseCapacity });
    // Even without INDEX, 9.3.4 accepts the CAPACITY of an index. Its value is not used.
    else if (isWord(token, 'capacity')) parseCapacity(cursor);
    else cursor.unread();
  } else for (const word of ['not', 'null']) cursor.accept(word); // these have no effect
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

function parseTypeChange(cursor: Cursor, lookup: NameLookup, altered: AlteredColumn) {
  const { object, name, column } = altered;
  const { name: _name, dedup: _dedup, ...added } = parseAddedColumn(cursor, name, lookup).column;
  expectEndOfAlter(cursor, altered, 'to change column type');
  if (column) {
    if (column.name === object.timestamp) throw cursor.error('cannot change type of designated timestamp column');
    if (column.type === added.type) throw cursor.error(`column '${name}' type is already '${added.type}'`);
    if (!isAcceptedConversion(column.type, added.type))
      throw cursor.error(`incompatible column type change [existing=${column.type}, new=${added.type}]`);
  }
  return { action: 'type', column: name, ...added } as const;
}

const LIMITS = { min: 2, max: 2 ** 30, maxCached: 2 ** 25 };

/** In the form of servers before 9.3, the clause also contains the capacity. Later servers do not print a capacity. */
export const CACHE: ColumnProperty<'cache', { cached: boolean }> = {
  suffix: ' cache',
  value: ({ type, cached }) => (type !== 'SYMBOL' || cached === undefined ? undefined : cached ? 'CACHE' : 'NOCACHE'),
  print({ type, cached, capacity }, { form }) {
    if (type !== 'SYMBOL') return '';
    if (form === '9.3') return cached ? '' : ' NOCACHE';
    return `${capacity === undefined ? '' : ` CAPACITY ${capacity}`}${cached ? ' CACHE' : ' NOCACHE'}`;
  },
  alter: {
    actions: ['cache'],
    syntax: {
      cache: (_cursor, _lookup, altered) => parseCacheChange(altered, true),
      nocache: (_cursor, _lookup, altered) => parseCacheChange(altered, false),
    },
    print: ({ cached }) => (cached ? 'CACHE' : 'NOCACHE'),
    apply: (column, { cached }) => ({ ...column, cached }),
    permissions: ['ALTER COLUMN CACHE'],
    between: ({ name, cached }, current) =>
      current.type === 'SYMBOL' && current.cached !== cached ? [{ action: 'cache', column: name, cached }] : [],
  },
};

function parseCacheChange(altered: AlteredColumn, cached: boolean) {
  requireSymbol(altered, 'cache is');
  return { action: 'cache', column: altered.name, cached } as const;
}

export const CAPACITY: ColumnProperty<'symbol capacity', { capacity: number }> = {
  suffix: ' capacity',
  value: ({ capacity }) => capacity?.toString(),
  isHidden: true,
  alter: {
    actions: ['symbol capacity'],
    worksOnViews: true,
    syntax: {
      symbol(cursor, _, altered) {
        const { name, column, position } = altered;
        if (column && column.type !== 'SYMBOL')
          throw new RejectionError(position, `column '${name}' is not of symbol type`);
        cursor.expect('capacity');
        const capacity = parseAlteredCapacity(cursor, 'numeric capacity');
        expectEndOfAlter(cursor, altered, 'to change symbol capacity');
        return { action: 'symbol capacity', column: name, capacity };
      },
    },
    print: ({ capacity }) => `SYMBOL CAPACITY ${capacity}`,
    apply: (column, { capacity }) => ({ ...column, capacity }),
    permissions: ['ALTER SYMBOL CAPACITY'],
    between: ({ name, capacity }, current) =>
      capacity !== undefined && current.capacity !== undefined && capacity !== current.capacity
        ? [{ action: 'symbol capacity', column: name, capacity }]
        : [],
  },
};

/** @param others only for CREATE: the words that may follow, for the server's message @returns the `reach` after the first token */
export function parseSymbolOptions(cursor: Cursor, column: Column, others?: string): number {
  const next = (words: string) => (others === undefined ? cursor.next() : cursor.require(words + others));
  let token = next("'capacity', 'nocache', 'cache'");
  const { reach } = cursor;
  if (isWord(token, 'capacity')) {
    const position = cursor.reach;
    column.capacity =
      others === undefined
        ? parseAlteredCapacity(cursor, 'symbol capacity')
        : toValidCapacity(parseIntToken(cursor), position);
    token = next("'nocache', 'cache'");
  }
  if (isWord(token, 'nocache') || isWord(token, 'cache')) column.cached = isWord(token, 'cache');
  else cursor.unread();
  return reach;
}

export function rejectCachedCapacity({ cached, capacity = 0 }: Column, position: number): void {
  if (!cached || capacity <= LIMITS.maxCached) return;
  throw new RejectionError(position, `max cached symbol capacity is ${LIMITS.maxCached}`);
}

function parseAlteredCapacity(cursor: Cursor, expected: string): number {
  const token = cursor.requireNoSemicolon(expected);
  const position = cursor.start;
  const digits = token === '-' ? cursor.requireNoSemicolon(expected) : token;
  const value = parseInt32(digits);
  if (value === undefined) throw cursor.error('numeric capacity expected');
  return toValidCapacity(token === '-' ? -value : value, position);
}

/** Rounds a capacity up to a power of two, as the server does. @throws RejectionError if it is out of bounds */
function toValidCapacity(capacity: number, position: number): number {
  if (capacity < LIMITS.min) throw new RejectionError(position, `min symbol capacity is ${LIMITS.min}`);
  if (capacity > LIMITS.max) throw new RejectionError(position, `max symbol capacity is ${LIMITS.max}`);
  return roundUpToPowerOf2(capacity);
}
