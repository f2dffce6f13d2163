/*! PARTITION BY and TTL: units, lengths, and the lengths that are valid for each unit. */
import type { Cursor } from './cursor.js';
import { isWord } from './cursor.js';
import { parseLiteral } from './names.js';
import { MAX_INT, parseInt64 } from './numbers.js';
import { RejectionError } from './rejection-error.js';

/** The size of a table's partitions: an hour, a day, …; `NONE` for no partitions. */
export type PartitionUnit = 'NONE' | 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'YEAR';

const units = new Set(['NONE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR']);

/** Parses `PARTITION BY <name>` if it comes next. The name is checked later. */
export function parsePartitionBy(
  cursor: Cursor,
  token: string | undefined,
): { name: string; position: number } | undefined {
  if (!isWord(token, 'partition')) return;
  cursor.expect('by');
  return parseLiteral(cursor);
}

/** The unit of that name, in any case. */
export function parsePartitionUnit(name: string): PartitionUnit | undefined {
  const unit = name.toUpperCase();
  return units.has(unit) ? (unit as PartitionUnit) : undefined;
}

/** A time to live as the server stores it: a positive number of hours, a negative number of months, or 0 for none. */
export type Ttl = number;

/** The number of hours, or the negative number of months, of each unit. */
const lengths = new Map<string, { words: string[]; length: number }>(
  Object.entries({ HOUR: 1, DAY: 24, WEEK: 168, MONTH: -1, YEAR: -12 }).map(([unit, length]) => {
    const word = unit.toLowerCase();
    return [unit, { words: [word.charAt(0), word, `${word}s`], length }];
  }),
);

const unitOf = (word: string): string | undefined =>
  [...lengths].find(([, { words }]) => words.includes(word.toLowerCase()))?.[0];

const longForms = "'HOUR(S)', 'DAY(S)', 'WEEK(S)', 'MONTH(S)' or 'YEAR(S)'";

/** Parses `14 DAYS` or `2w` after TTL. */
export function parseTtl(cursor: Cursor): { ttl: Ttl; position: number } {
  const position = cursor.readOffset;
  const token = cursor.next();
  if (token === undefined || token === ';') {
    throw new RejectionError(cursor.readOffset, 'missing argument, should be <number> <unit> or <number_with_unit>');
  }
  const short = token.length > 1 && /\p{L}$/u.test(token);
  const number = short ? token.slice(0, -1) : token;
  const shortUnit = short ? unitOf(token.slice(-1)) : undefined;
  if (short && !shortUnit) throw shortUnitError(token, position);
  const count = parseInt64(shortUnit ? number : token);
  if (count === undefined)
    throw new RejectionError(position, `invalid syntax, should be <number> <unit> but was ${token}`);
  if (count > BigInt(MAX_INT) || count < 0n) {
    throw new RejectionError(position, `value out of range: ${count}. Max value: ${MAX_INT}`);
  }
  const unit = shortUnit ?? parseLongUnit(cursor);
  return { ttl: checkedTtl(Number(count), unit, position), position };
}

function shortUnitError(token: string, position: number): RejectionError {
  if (parseInt64(token.slice(0, -1)) === undefined) {
    return new RejectionError(position, 'invalid argument, should be <number> <unit> or <number_with_unit>');
  }
  const unit = token.slice(-1);
  return new RejectionError(
    position + token.length - 1,
    `invalid time unit, expecting 'H', 'D', 'W', 'M' or 'Y', but was '${unit}'`,
  );
}

function parseLongUnit(cursor: Cursor): string {
  const position = cursor.readOffset;
  const token = cursor.next();
  if (token === undefined) throw new RejectionError(position, `missing unit, ${longForms} expected`);
  const unit = unitOf(token);
  if (!unit) throw new RejectionError(position, `invalid unit, expected ${longForms}, but was '${token}'`);
  return unit;
}

function checkedTtl(count: number, unit: string, position: number): Ttl {
  const length = lengths.get(unit)?.length ?? 0;
  const max = Math.floor(MAX_INT / Math.abs(length));
  if (count > max) {
    const name = `${unit.toLowerCase()}s`;
    throw new RejectionError(position, `value out of range: ${count} ${name}. Max value: ${max} ${name}`);
  }
  return toTtl(count, unit);
}

/** The TTL of a number of units, such as `HOUR`. */
export const toTtl = (count: number, unit: string): Ttl => count * (lengths.get(unit)?.length ?? 0) || 0; // `|| 0` turns -0 months into 0

/**
 * Whether a TTL is a multiple of the partition size. No TTL is not one of partitions by month or year, so that a TTL of these
 * cannot be removed (observed on 9.3.4).
 */
export function isEvenTtl(unit: PartitionUnit, ttl: Ttl): boolean {
  const months = ttl < 0;
  return {
    NONE: false,
    HOUR: true,
    DAY: months || ttl % 24 === 0,
    WEEK: months || ttl % 168 === 0,
    MONTH: months,
    YEAR: months && ttl % 12 === 0,
  }[unit];
}

/** Rejects a TTL that is not a multiple of the partition size. The message is that of versions after 9.3.4. */
export function rejectUnevenTtl(unit: PartitionUnit, ttl: Ttl, position: number): void {
  if (unit === 'NONE') throw new RejectionError(position, 'cannot set TTL on a non-partitioned table');
  if (isEvenTtl(unit, ttl)) return;
  throw new RejectionError(position, 'TTL value must be an integer multiple of the partition size (its time interval)');
}

/** A TTL in the largest unit of which it is a whole number. */
export function splitTtl(ttl: Ttl): { value: number; unit: string } {
  const months = -ttl;
  if (ttl < 0) return months % 12 === 0 ? { value: months / 12, unit: 'YEAR' } : { value: months, unit: 'MONTH' };
  if (ttl % 168 === 0 && ttl > 0) return { value: ttl / 168, unit: 'WEEK' };
  return ttl % 24 === 0 && ttl > 0 ? { value: ttl / 24, unit: 'DAY' } : { value: ttl, unit: 'HOUR' };
}
