import { foldCase, NameMap } from '@sqlpipe/sql';
import { parseCapacityOption } from '../columns/indexes.js';
import type { LiveViewDefinition, MaterializedViewDefinition } from '../definition.js';
import { type Cursor, isWord, RejectionError, unexpectedTokenError } from '../parser/cursor.js';
import { parseLiteral, quoteName, unquoteToken } from '../parser/names.js';
import { MICROS, parseInt64, parseTimestamp } from '../parser/numbers.js';
import { defineProperty } from '../property.js';

/** No server prints the indexes of a materialized view. */
export const VIEW_INDEXES = defineProperty<Pick<MaterializedViewDefinition, 'indexes'>>()({
  name: 'indexes',
  value({ indexes = new NameMap() }) {
    const texts = Array.from(indexes, ([column, capacity]) => `${foldCase(column)} CAPACITY ${capacity}`);
    return texts.sort().join(', ') || undefined;
  },
  isHidden: true,
  words: [','],
  parse({ cursor, context }) {
    const indexes = new NameMap<number>();
    do {
      const word = cursor.require("'index'");
      if (!isWord(word, 'index')) throw unexpectedTokenError(cursor.start, word);
      cursor.expect('(');
      const { name, start } = parseLiteral(cursor);
      if (indexes.has(name)) throw new RejectionError(start, 'duplicate index clause');
      indexes.set(name, parseCapacityOption(cursor, cursor.require("'capacity'"), context.defaults.indexCapacity));
      cursor.expect(')');
    } while (cursor.accept(','));
    return { indexes };
  },
  print: ({ indexes = new NameMap() }, { form }) =>
    form === 'complete'
      ? Array.from(indexes, ([column, capacity]) => `, INDEX(${quoteName(column)} CAPACITY ${capacity})`).join('')
      : '',
  whenAbsent: () => ({ indexes: new NameMap() }),
});

export const FLUSH = defineProperty<Pick<LiveViewDefinition, 'flush'>>()({
  name: 'flush interval',
  value: ({ flush }) => flush,
  words: ['flush'],
  parse({ cursor }) {
    const { text, micros } = parseLengthAfter(cursor, 'every');
    if (micros < 100_000n) throw cursor.error('live view FLUSH EVERY must be at least 100ms');
    return { flush: text };
  },
  // Without IN MEMORY, this is also the time in memory.
  check({ flush = '' }, position, { maxInMemory = Number.POSITIVE_INFINITY }) {
    if (microsOf(flush) <= maxInMemory) return;
    const problem = formatTooLong('FLUSH EVERY', maxInMemory);
    throw new RejectionError(position, `${problem} because IN MEMORY defaults to FLUSH EVERY`);
  },
  print: ({ flush }) => ` FLUSH EVERY ${flush}`,
});

export const IN_MEMORY = defineProperty<Pick<LiveViewDefinition, 'inMemory'>>()({
  name: 'time in memory',
  value: ({ inMemory }) => inMemory,
  words: ['in'],
  parse({ cursor, definition: { flush = '' }, context: { maxInMemory = Number.POSITIVE_INFINITY } }) {
    const { text, micros } = parseLengthAfter(cursor, 'memory');
    if (micros < microsOf(flush)) throw cursor.error(`live view IN MEMORY must be at least FLUSH EVERY (${flush})`);
    if (micros > maxInMemory) throw cursor.error(formatTooLong('IN MEMORY', maxInMemory));
    return { inMemory: text };
  },
  print: ({ inMemory }) => ` IN MEMORY ${inMemory}`,
});

export const START_FROM = defineProperty<Pick<LiveViewDefinition, 'start'>>()({
  name: 'start',
  words: ['start'],
  parse({ cursor }) {
    cursor.expect('from');
    const token = cursor.require("'now', 'beginning' or a quoted timestamp literal");
    if (isWord(token, 'now') || isWord(token, 'beginning')) {
      const isCall = cursor.next() === '(';
      if (isCall && isWord(token, 'now')) throw cursor.error('live view START FROM NOW does not take arguments');
      cursor.unread();
      return { start: token.toUpperCase() };
    }
    if (isWord(token, 'null')) throw cursor.error('live view START FROM does not accept NULL');
    if (!token.startsWith("'")) throw cursor.error("'now', 'beginning' or a quoted timestamp literal expected");
    if (parseTimestamp(unquoteToken(token))) return { start: token };
    throw cursor.error(`invalid live view START FROM timestamp [ts=${unquoteToken(token)}]`);
  },
  value: ({ start }) => parseTimestamp(unquoteToken(start), 9) ?? start,
  print: ({ start }) => ` START FROM ${start}`,
});

function formatTooLong(clause: string, micros: number): string {
  const fits = ([each, length]: [string, number]): boolean => each !== 'd' && micros % length === 0;
  const [unit, factor] = [...MICROS].findLast(fits) ?? ['us', 1];
  return `live view ${clause} must be at most cairo.live.view.in.memory.max (${micros / factor}${unit})`;
}

function parseLengthAfter(cursor: Cursor, word: string) {
  cursor.expect(word);
  const text = cursor.require('duration');
  const [, digits = '', unit = ''] = /^([\d_]*)(ms|[smhd])$/.exec(text) ?? [];
  const factor = MICROS.get(unit);
  if (factor === undefined) throw cursor.error(`invalid duration unit, 'ms', 's', 'm', 'h' or 'd' expected: ${text}`);
  const count = parseInt64(digits);
  if (!count) throw cursor.error(`invalid duration value: ${text}`);
  const micros = count * BigInt(factor);
  if (BigInt.asIntN(64, micros) !== micros) throw cursor.error('live view duration is out of range');
  return { text: `${count}${unit}`, micros };
}

function microsOf(text: string): bigint {
  const [, digits = '0', unit = ''] = /^(\d+)(\D+)$/.exec(text) ?? [];
  return BigInt(digits) * BigInt(MICROS.get(unit) ?? 0);
}
