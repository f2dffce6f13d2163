/*! Numbers as the server reads them: digits with single underscores between, an int of 32 bits, a long of 64. */
import type { Cursor } from './cursor.js';
import { tokenError } from './rejection-error.js';

const DIGITS = /^[-+]?\d+(?:_\d+)*$/;
export const MAX_INT = 2 ** 31 - 1;

/** The integer that the text is, or undefined where it is none or does not fit 32 bits. */
export function parseInt32(text: string): number | undefined {
  if (!DIGITS.test(text)) return;
  const value = Number(text.replaceAll('_', ''));
  return value > MAX_INT || value < -MAX_INT - 1 ? undefined : value;
}

/** The long that the text is (a closing `L` is allowed), or undefined where it is none or does not fit 64 bits. */
export function parseInt64(text: string): bigint | undefined {
  const bare = text.replace(/[lL]$/, '');
  if (!DIGITS.test(bare) || bare.startsWith('+')) return;
  const value = BigInt(bare.replaceAll('_', ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** The next token (two where the first is a minus) as an integer. */
export function expectInt(cursor: Cursor): number {
  const { token, negative } = readSigned(cursor, 'integer');
  const value = parseInt32(token);
  if (value === undefined) throw tokenError(cursor.at, token, 'bad integer');
  return negative ? -value : value;
}

/** The next token (two where the first is a minus) as a long. */
export function expectLong(cursor: Cursor): bigint {
  const { token, negative } = readSigned(cursor, 'long integer');
  const value = parseInt64(token);
  if (value === undefined) throw tokenError(cursor.at, token, 'bad long integer');
  return negative ? -value : value;
}

function readSigned(cursor: Cursor, expected: string): { token: string; negative: boolean } {
  const token = cursor.require(expected);
  return token === '-' ? { token: cursor.require(expected), negative: true } : { token, negative: false };
}

/** The next power of two, as capacities are stored. */
export const ceilPow2 = (value: number): number => 2 ** Math.ceil(Math.log2(value));
