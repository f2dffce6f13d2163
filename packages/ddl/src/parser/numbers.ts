import type { Age } from '../definition.js';
import { type Cursor, isWord, RejectionError, tokenError } from './cursor.js';

/** Digits with single underscores between them, as the server accepts. */
const INTEGER = /^[-+]?\d+(?:_\d+)*$/;
const MAX_INT = 2 ** 31 - 1;

/** Parses an integer of 32 bits; undefined for any other text. */
export function parseInt32(text: string): number | undefined {
  if (!INTEGER.test(text)) return;
  const value = Number(text.replaceAll('_', ''));
  return value > MAX_INT || value < -MAX_INT - 1 ? undefined : value;
}

/** Parses an integer of 64 bits, with or without a final `L`; undefined for any other text, or if a sign `+` precedes it. */
export function parseInt64(text: string): bigint | undefined {
  const bare = text.replace(/[lL]$/, '');
  if (!INTEGER.test(bare) || bare.startsWith('+')) return;
  const value = BigInt(bare.replaceAll('_', ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

export const parseIntToken = (cursor: Cursor): number => parseSigned(cursor, 'integer', parseInt32);

export function parseSigned<T extends number | bigint>(
  cursor: Cursor,
  what: string,
  parse: (text: string) => T | undefined,
) {
  const first = cursor.require(what);
  const token = first === '-' ? cursor.require(what) : first;
  const value = parse(token);
  if (value === undefined) throw tokenError(cursor.start, token, `bad ${what}`);
  return (first === '-' ? -value : value) as T;
}

/** Rounds up to a power of two, as servers do with capacities. */
export const roundUpToPowerOf2 = (value: number): number => 2 ** Math.ceil(Math.log2(value));

export const [MICROS_PER_MINUTE, MICROS_PER_HOUR, MICROS_PER_DAY] = [60e6, 3600e6, 86_400e6];

/** The microseconds in a unit, by its abbreviation. */
export const MICROS: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-3],
  ['us', 1],
  ['ms', 1e3],
  ['s', 1e6],
  ['m', MICROS_PER_MINUTE],
  ['h', MICROS_PER_HOUR],
  ['d', MICROS_PER_DAY],
]);

/** Parses an ISO 8601 timestamp into the form `2025-01-01T00:00:00.000000Z`; undefined if invalid. Parts after the year are optional. */
export function parseTimestamp(text: string, digits: 6 | 9 = 6): string | undefined {
  const match =
    /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?)?)?)?(Z|[-+]\d\d(?::?\d\d)?)?$/.exec(
      text,
    );
  if (!match) return;
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] =
    match;
  const offset =
    zone === 'Z' ? zone : zone.replace(/^(...):?(..)?$/, (_, hours, minutes = '00') => `${hours}:${minutes}`);
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const moment = new Date(`${local}${offset}`);
  // `Date` turns 30 February into 2 March, and 24:00 into the next day. QuestDB rejects both (observed on 9.3.4).
  if (Number.isNaN(moment.getTime()) || !new Date(`${local}Z`).toISOString().startsWith(local)) return;
  const parts = fraction.padEnd(digits, '0').slice(0, digits);
  return moment.toISOString().replace('.000Z', `.${parts}Z`);
}

/** The length of each unit: a positive number of hours, or a negative number of months. */
const UNIT_LENGTHS: Readonly<Record<string, number>> = { HOUR: 1, DAY: 24, WEEK: 168, MONTH: -1, YEAR: -12 };

/** The unit that a word names, in any case: DAY for `d`, `day` or `days`. Undefined for other words. */
const unitOf = (word: string): string | undefined =>
  Object.keys(UNIT_LENGTHS).find(unit =>
    [unit.charAt(0), unit, `${unit}S`].some(each => isWord(word, each.toLowerCase())),
  );

const LONG_UNITS = "'HOUR(S)', 'DAY(S)', 'WEEK(S)', 'MONTH(S)' or 'YEAR(S)'";

/** Parses an age, such as `14 DAYS` or `2w`. @returns the age, and the position at which a caller can reject it @throws RejectionError */
export function parseAge(cursor: Cursor): { age: Age; position: number } {
  const position = cursor.reach;
  const reject = (problem: string, at = position) => new RejectionError(at, problem);
  const token = cursor.next();
  if (token === undefined || token === ';')
    throw reject('missing argument, should be <number> <unit> or <number_with_unit>', cursor.reach);
  const isShort = token.length > 1 && /\p{L}$/u.test(token);
  const [digits, letter] = isShort ? [token.slice(0, -1), token.slice(-1)] : [token, ''];
  const count = parseInt64(digits);
  const shortUnit = unitOf(letter);
  if (isShort && !shortUnit) {
    if (count === undefined) throw reject('invalid argument, should be <number> <unit> or <number_with_unit>');
    const problem = `invalid time unit, expecting 'H', 'D', 'W', 'M' or 'Y', but was '${letter}'`;
    throw reject(problem, position + token.length - 1);
  }
  if (count === undefined) throw reject(`invalid syntax, should be <number> <unit> but was ${token}`);
  if (count > BigInt(MAX_INT) || count < 0n) throw reject(`value out of range: ${count}. Max value: ${MAX_INT}`);
  const unitPosition = cursor.reach;
  const word = shortUnit ?? cursor.next();
  if (word === undefined) throw reject(`missing unit, ${LONG_UNITS} expected`, unitPosition);
  const unit = unitOf(word);
  if (!unit) throw reject(`invalid unit, expected ${LONG_UNITS}, but was '${word}'`, unitPosition);
  const max = Math.floor(MAX_INT / Math.abs(UNIT_LENGTHS[unit] ?? 0));
  const units = `${unit.toLowerCase()}s`;
  if (count > max) throw reject(`value out of range: ${count} ${units}. Max value: ${max} ${units}`);
  return { age: toAge(Number(count), unit), position };
}

/** The age of `count` units. @param unit such as `HOUR` */
export const toAge = (count: number, unit: string): Age => count * (UNIT_LENGTHS[unit] ?? 0) || 0; // `|| 0` turns -0 months into 0

/** Expresses an age as a whole number of the largest possible unit. */
export function splitAge(age: Age): { value: number; unit: string } {
  const fits = ([, each]: [string, number]): boolean => age * each > 0 && age % each === 0;
  const [unit, length] = Object.entries(UNIT_LENGTHS).findLast(fits) ?? ['HOUR', 1];
  return { value: age / length, unit };
}

/** An age as it is printed after the keyword: `2 WEEKS`. */
export function printAge(age: Age): string {
  const { value, unit } = splitAge(age);
  return `${value} ${unit}${value > 1 ? 'S' : ''}`;
}
