/*! The properties of a symbol column: how many values it is made for, and whether they are cached. */
import type { Column } from '../definition.js';
import { type Cursor, isWord } from '../grammar/cursor.js';
import { ceilPow2, expectInt, parseInt32 } from '../grammar/numbers.js';
import { RejectionError } from '../grammar/rejection-error.js';
import { type AlteredColumn, type ColumnProperty, expectEndWhile, requireSymbol } from './column-property.js';

const LIMITS = { min: 2, max: 2 ** 30, maxCached: 2 ** 25 };

/** CACHE or NOCACHE. Its clause contains the capacity, which servers from 9.3 on do not print. */
export const CACHE: ColumnProperty<'cache', { cached: boolean }> = {
  name: ' cache',
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
    permission: () => 'ALTER COLUMN CACHE',
    find: ({ name, cached }, now) =>
      now.type === 'SYMBOL' && now.cached !== cached ? [{ action: 'cache', column: name, cached }] : [],
  },
};

function parseCacheChange(altered: AlteredColumn, cached: boolean) {
  requireSymbol(altered, 'cache is');
  return { action: 'cache', column: altered.name, cached } as const;
}

export const CAPACITY: ColumnProperty<'symbol capacity', { capacity: number }> = {
  name: ' capacity',
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
        expectEndWhile(cursor, altered, 'to change symbol capacity');
        return { action: 'symbol capacity', column: name, capacity };
      },
    },
    print: ({ capacity }) => `SYMBOL CAPACITY ${capacity}`,
    apply: (column, { capacity }) => ({ ...column, capacity }),
    permission: () => 'ALTER SYMBOL CAPACITY',
    find: ({ name, capacity }, now) =>
      capacity !== undefined && now.capacity !== undefined && capacity !== now.capacity
        ? [{ action: 'symbol capacity', column: name, capacity }]
        : [],
  },
};

/**
 * Parses `CAPACITY n` and `CACHE` or `NOCACHE` after SYMBOL.
 * @param others what else CREATE expects, in the wording of the server's message; in an ALTER anything may follow
 * @returns the end of the first token, where CAST rejects the capacity
 */
export function parseSymbolOptions(cursor: Cursor, column: Column, others?: string): number {
  const next = (words: string) => (others === undefined ? cursor.next() : cursor.require(words + others));
  let token = next("'capacity', 'nocache', 'cache'");
  const { readOffset } = cursor;
  if (isWord(token, 'capacity')) {
    const position = cursor.readOffset;
    column.capacity =
      others === undefined
        ? parseAlteredCapacity(cursor, 'symbol capacity')
        : toValidCapacity(expectInt(cursor), position);
    token = next("'nocache', 'cache'");
  }
  if (isWord(token, 'nocache') || isWord(token, 'cache')) column.cached = isWord(token, 'cache');
  else cursor.unread();
  return readOffset;
}

export function rejectCachedCapacity({ cached, capacity = 0 }: Column, position: number): void {
  if (!cached || capacity <= LIMITS.maxCached) return;
  throw new RejectionError(position, `max cached symbol capacity is ${LIMITS.maxCached}`);
}

function parseAlteredCapacity(cursor: Cursor, expected: string): number {
  const token = cursor.requireNoSemicolon(expected);
  const position = cursor.at;
  const digits = token === '-' ? cursor.requireNoSemicolon(expected) : token;
  const value = parseInt32(digits);
  if (value === undefined) throw cursor.error('numeric capacity expected');
  return toValidCapacity(token === '-' ? -value : value, position);
}

/** The capacity as the server stores it: a power of two. @throws RejectionError if it is out of bounds */
function toValidCapacity(capacity: number, position: number): number {
  if (capacity < LIMITS.min) throw new RejectionError(position, `min symbol capacity is ${LIMITS.min}`);
  if (capacity > LIMITS.max) throw new RejectionError(position, `max symbol capacity is ${LIMITS.max}`);
  return ceilPow2(capacity);
}
