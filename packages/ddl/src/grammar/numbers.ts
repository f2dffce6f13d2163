/*! Numbers as the server reads them: digits with single underscores between, an int of 32 bits, a long of 64. */
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
export function expectInt(cursor: Cursor): number {
  const { token, negative } = readSigned(cursor, 'integer');
  const value = parseInt32(token);
  if (value === undefined) throw tokenError(cursor.at, token, 'bad integer');
  return negative ? -value : value;
}

/** Reads a long: one token, or a minus and a token. */
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

/** The next power of two: servers store capacities so. */
export const ceilPow2 = (value: number): number => 2 ** Math.ceil(Math.log2(value));
