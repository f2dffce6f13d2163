/*!
 * Numbers as the server reads them: digits with single underscores between, an int of 32 bits, a long of 64. Timestamps: ISO 8601 with
 * microseconds; all parts after the year are optional.
 */
import type { Cursor } from './cursor.js';
import { tokenError } from './rejection-error.js';

const DIGITS = /^[-+]?\d+(?:_\d+)*$/;
export const MAX_INT = 2 ** 31 - 1;

/** Parses an integer; undefined if the text is not one, or if it does not fit into 32 bits. */
export function parseInt32(text: string): number | undefined {
  if (!DIGITS.test(text)) return;
  const value = Number(text.replaceAll('_', ''));
  return value > MAX_INT || value < -MAX_INT - 1 ? undefined : value;
}

/** Parses a long, with or without a final `L`; undefined if the text is not one, or if it does not fit into 64 bits. */
export function parseInt64(text: string): bigint | undefined {
  const bare = text.replace(/[lL]$/, '');
  if (!DIGITS.test(bare) || bare.startsWith('+')) return;
  const value = BigInt(bare.replaceAll('_', ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** Reads an integer: one token, or a minus and a token. */
export const expectInt = (cursor: Cursor): number => expectSigned(cursor, 'integer', parseInt32);

/** Reads a long: one token, or a minus and a token. */
export const expectLong = (cursor: Cursor): bigint => expectSigned(cursor, 'long integer', parseInt64);

function expectSigned<T extends number | bigint>(cursor: Cursor, what: string, parse: (text: string) => T | undefined) {
  const first = cursor.require(what);
  const token = first === '-' ? cursor.require(what) : first;
  const value = parse(token);
  if (value === undefined) throw tokenError(cursor.at, token, `bad ${what}`);
  return (first === '-' ? -value : value) as T;
}

/** The next power of two: servers store capacities so. */
export const ceilPow2 = (value: number): number => 2 ** Math.ceil(Math.log2(value));

export const [MINUTE, HOUR, DAY] = [60e6, 3600e6, 86_400e6];

/** Microseconds in each unit of a length. */
export const MICROS: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-3],
  ['us', 1],
  ['ms', 1e3],
  ['s', 1e6],
  ['m', MINUTE],
  ['h', HOUR],
  ['d', DAY],
]);

const shape =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?)?)?)?(Z|[-+]\d\d(?::?\d\d)?)?$/;

/** Parses a timestamp into the printed form, `2025-01-01T00:00:00.000000Z`; undefined if it is invalid. @param digits 9 for a TIMESTAMP_NS */
export function parseTimestamp(text: string, digits: 6 | 9 = 6): string | undefined {
  const match = shape.exec(text);
  if (!match) return;
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] =
    match;
  const offset =
    zone === 'Z' ? zone : zone.replace(/^(...):?(..)?$/, (_, hours, minutes = '00') => `${hours}:${minutes}`);
  const moment = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`);
  if (Number.isNaN(moment.getTime())) return;
  const parts = fraction.padEnd(digits, '0').slice(0, digits);
  return moment.toISOString().replace('.000Z', `.${parts}Z`);
}
