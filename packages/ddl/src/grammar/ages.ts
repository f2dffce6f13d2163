/*! How long rows are kept: ages as they are written, stored and printed. */
import type { Age, PartitionUnit } from '../definition.js';
import { type Cursor, isWord } from './cursor.js';
import { MAX_INT, parseInt64 } from './numbers.js';
import { RejectionError } from './rejection-error.js';

/** The number of hours, or the negative number of months, of each unit. */
const LENGTHS: Readonly<Record<string, number>> = { HOUR: 1, DAY: 24, WEEK: 168, MONTH: -1, YEAR: -12 };

/** The unit of `d`, `day` or `days`, in any case. */
const unitOf = (word: string): string | undefined =>
  Object.keys(LENGTHS).find(unit => [unit.charAt(0), unit, `${unit}S`].some(each => isWord(word, each.toLowerCase())));

const longForms = "'HOUR(S)', 'DAY(S)', 'WEEK(S)', 'MONTH(S)' or 'YEAR(S)'";

/** Parses `14 DAYS` or `2w` after TTL. */
export function parseAge(cursor: Cursor): { age: Age; position: number } {
  const position = cursor.readOffset;
  const token = cursor.next();
  if (token === undefined || token === ';')
    throw new RejectionError(cursor.readOffset, 'missing argument, should be <number> <unit> or <number_with_unit>');
  const short = token.length > 1 && /\p{L}$/u.test(token);
  const number = short ? token.slice(0, -1) : token;
  const shortUnit = short ? unitOf(token.slice(-1)) : undefined;
  if (short && !shortUnit) throw shortUnitError(token, position);
  const count = parseInt64(shortUnit ? number : token);
  if (count === undefined)
    throw new RejectionError(position, `invalid syntax, should be <number> <unit> but was ${token}`);
  if (count > BigInt(MAX_INT) || count < 0n)
    throw new RejectionError(position, `value out of range: ${count}. Max value: ${MAX_INT}`);
  const unit = shortUnit ?? parseLongUnit(cursor);
  return { age: checkedAge(Number(count), unit, position), position };
}

function shortUnitError(token: string, position: number): RejectionError {
  if (parseInt64(token.slice(0, -1)) === undefined)
    return new RejectionError(position, 'invalid argument, should be <number> <unit> or <number_with_unit>');
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

function checkedAge(count: number, unit: string, position: number): Age {
  const length = LENGTHS[unit] ?? 0;
  const max = Math.floor(MAX_INT / Math.abs(length));
  if (count > max) {
    const name = `${unit.toLowerCase()}s`;
    throw new RejectionError(position, `value out of range: ${count} ${name}. Max value: ${max} ${name}`);
  }
  return toAge(count, unit);
}

/** The TTL of a number of units, such as `HOUR`. */
export const toAge = (count: number, unit: string): Age => count * (LENGTHS[unit] ?? 0) || 0; // `|| 0` turns -0 months into 0

/** Whether a TTL is a multiple of the partition size. 0 is none of months and years: there, no TTL can be removed (observed on 9.3.4). */
export function isEvenAge(unit: PartitionUnit, age: Age): boolean {
  const months = age < 0;
  return {
    NONE: false,
    HOUR: true,
    DAY: months || age % 24 === 0,
    WEEK: months || age % 168 === 0,
    MONTH: months,
    YEAR: months && age % 12 === 0,
  }[unit];
}

/** Rejects a TTL that is not a multiple of the partition size. The message is that of versions after 9.3.4. */
export function rejectUnevenAge(unit: PartitionUnit, age: Age, position: number): void {
  if (unit === 'NONE') throw new RejectionError(position, 'cannot set TTL on a non-partitioned table');
  if (isEvenAge(unit, age)) return;
  throw new RejectionError(position, 'TTL value must be an integer multiple of the partition size (its time interval)');
}

/** A TTL in the largest unit of which it is a whole number. */
export function splitAge(age: Age): { value: number; unit: string } {
  const fits = (length: number): boolean => age * length > 0 && age % length === 0;
  const [unit, length] = Object.entries(LENGTHS).findLast(([, length]) => fits(length)) ?? ['HOUR', 1];
  return { value: age / length, unit };
}

/** An age as it is printed after the keyword: `2 WEEKS`. */
export function formatAge(age: Age): string {
  const { value, unit } = splitAge(age);
  return `${value} ${unit}${value > 1 ? 'S' : ''}`;
}
