/*!
 * The type conversions of ALTER COLUMN … TYPE. They were tried on 9.3.4 with the smallest and largest values, NULL, NaN, infinities, -0.0
 * and texts. test/packages/converted-values.test.ts tries the lossless ones again.
 *
 * If the new type cannot hold a value, the value becomes NULL, 0 or another value. But a WAL table is suspended if a value does not fit a
 * DECIMAL, or if a DECIMAL column with any value becomes an integer.
 */
import { significantTokens } from '@sqlpipe/sql';
import { isArray, isDecimal } from '../parser/types.js';

const TEXTS = ['STRING', 'VARCHAR', 'SYMBOL'];
const INTEGERS = ['BYTE', 'SHORT', 'INT', 'LONG'];
const FLOATS = ['FLOAT', 'DOUBLE'];
const TIMES = ['DATE', 'TIMESTAMP', 'TIMESTAMP_NS'];
/** Each of these types can be converted to each other one. */
const INTERCONVERTIBLE = [...INTEGERS, ...FLOATS, ...TIMES, 'BOOLEAN', ...TEXTS];
/** Each of these types can be converted only to and from a text. */
const CONVERTIBLE_TO_TEXT = ['IPv4', 'UUID', 'CHAR'];

export function isAcceptedConversion(from: string, to: string): boolean {
  const isBetween = (some: readonly string[], others: readonly string[]) =>
    (some.includes(from) && others.includes(to)) || (some.includes(to) && others.includes(from));
  const decimals = [from, to].filter(isDecimal);
  return (
    isBetween(INTERCONVERTIBLE, INTERCONVERTIBLE) ||
    isBetween(CONVERTIBLE_TO_TEXT, TEXTS) ||
    isBetween(decimals, [...INTEGERS, ...decimals])
  );
}

/** Whether ALTER converts a column. From a decimal to an integer, 9.3.4 accepts the ALTER, but suspends the table at the first row. */
export const canConvert = (from: string, to: string): boolean =>
  isAcceptedConversion(from, to) && !(isDecimal(from) && !isDecimal(to));

/** For each type, the types that can hold all of its values, also as text. */
const WIDER_TYPES: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(['LONG', 'BOOLEAN', ...CONVERTIBLE_TO_TEXT, ...TEXTS].map(type => [type, TEXTS])),
  BYTE: ['SHORT', 'INT', 'LONG', ...FLOATS, ...TEXTS],
  SHORT: ['INT', 'LONG', ...FLOATS, ...TEXTS],
  INT: ['LONG', 'DOUBLE', ...TEXTS],
  FLOAT: ['DOUBLE'],
};

const INTEGER_DIGITS: Readonly<Record<string, number>> = { BYTE: 3, SHORT: 5, INT: 10, LONG: 19 };

/** UTF-16 texts can hold half of a surrogate pair, such as `left('😀', 1)`. VARCHAR is UTF-8, so the half becomes `?` there. */
export const losesLoneSurrogates = (from: string, to: string): boolean =>
  to === 'VARCHAR' && ['STRING', 'SYMBOL', 'CHAR'].includes(from);

/** Whether a conversion keeps every value that the first type can hold, except half of a surrogate pair (see `losesLoneSurrogates`). */
export function isLossless(from: string, to: string): boolean {
  if (from === to || WIDER_TYPES[from]?.includes(to)) return true;
  const limits = TIMES.includes(from) ? undefined : decimalLimits(from, to); // times can be cast to a decimal, but not altered
  return limits !== undefined && limits.digits === undefined && limits.scale === undefined;
}

/**
 * The limits of a conversion from an integer, a time or a decimal to a decimal; undefined for any other conversion.
 * @returns the maximum number of digits before and after the decimal point; undefined if no value can exceed it
 */
export function decimalLimits(from: string, to: string) {
  const [before, after] = [decimalOf(from), decimalOf(to)];
  const digits = before ? before.precision - before.scale : INTEGER_DIGITS[TIMES.includes(from) ? 'LONG' : from];
  if (!after || digits === undefined) return undefined;
  const wanted = after.precision - after.scale;
  return {
    ...(wanted < digits && { digits: wanted }),
    ...(after.scale < (before?.scale ?? 0) && { scale: after.scale }),
  };
}

function decimalOf(type: string): { precision: number; scale: number } | undefined {
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? [];
  return precision === undefined ? undefined : { precision: Number(precision), scale: Number(scale) };
}

/** For some types: the only types to which they can be cast. Each pair was tried on 9.3.4 in INSERT … SELECT, also with NULL. */
const CASTS_FROM: Readonly<Record<string, readonly string[]>> = {
  BINARY: [],
  ARRAY: TEXTS,
  GEOHASH: [...TEXTS, 'GEOHASH'],
  DECIMAL: [...INTEGERS, ...FLOATS, ...TEXTS, 'DECIMAL'],
  IPv4: ['INT', ...TEXTS],
};
const CASTS_TO: Readonly<Record<string, readonly string[]>> = {
  BINARY: [],
  UUID: ['CHAR', ...TEXTS],
  IPv4: ['BYTE', 'SHORT', 'INT', 'CHAR', 'UUID', ...TEXTS],
};
const WITHOUT_CAST = new Set([
  ...['BOOLEAN', ...FLOATS].map(type => `${type} GEOHASH`),
  ...['BOOLEAN', 'LONG256'].map(type => `${type} ARRAY`),
  ...FLOATS.map(type => `LONG256 ${type}`),
  'BOOLEAN DECIMAL',
  'UUID DECIMAL',
]);

const familyOf = (type: string): string => (isArray(type) ? 'ARRAY' : type.replace(/\(.*/, ''));

/** Whether the server accepts what `printTypeCast` prints, whatever the values are. */
export function canCast(from: string, to: string): boolean {
  if (from === to) return true;
  const [family, wanted] = [familyOf(from), familyOf(to)];
  if (family === 'GEOHASH' && wanted === 'GEOHASH') return geohashBits(from) > geohashBits(to);
  const accepts = CASTS_FROM[family]?.includes(wanted) ?? true;
  return accepts && (CASTS_TO[wanted]?.includes(family) ?? true) && !WITHOUT_CAST.has(`${family} ${wanted}`);
}

function geohashBits(type: string): number {
  const [, size, unit] = /\((\d+)([bc])\)/.exec(type) ?? [];
  return Number(size) * (unit === 'c' ? 5 : 1);
}

/** A cast to or from a SYMBOL goes through STRING. Otherwise, 9.3.4 would turn a DATE into a number. */
export const printTypeCast = (value: string, from: string, to: string): string =>
  `CAST(${from === 'SYMBOL' || to === 'SYMBOL' ? `CAST(${value} AS STRING)` : value} AS ${to})`;

/** From this floating point number on, CAST returns the largest value of the type, but ALTER stores NULL. */
const FIRST_TOO_LARGE: Readonly<Record<string, string>> = {
  INT: '2147483648.0',
  ...Object.fromEntries(['LONG', ...TIMES].map(type => [type, '9223372036854775807.0'])),
};

/** Prints what ALTER COLUMN … TYPE stores. Unlike CAST, ALTER wraps times out of range, and a non-ASCII VARCHAR becomes the CHAR `?`. */
export function printConverted(value: string, from: string, to: string): string {
  if (from === 'TIMESTAMP' && to === 'TIMESTAMP_NS') return `CAST(CAST(${value} AS LONG) * 1000 AS TIMESTAMP_NS)`;
  if (from === 'VARCHAR' && to === 'CHAR')
    return `CASE WHEN length(${value}) = length_bytes(${value}) THEN CAST(${value} AS CHAR) ELSE '?' END`;
  const limit = FLOATS.includes(from) ? FIRST_TOO_LARGE[to] : undefined;
  if (limit === undefined) return printTypeCast(value, from, to);
  const number = `CAST(${value} AS DOUBLE)`;
  return `CASE WHEN ${number} < ${limit} THEN CAST(${number} AS ${to}) END`;
}

/** Whether a type has NULL. */
export const hasNull = (type: string): boolean => !['BYTE', 'SHORT', 'BOOLEAN'].includes(type);

type FilledColumn = Readonly<Record<'table' | 'column', string>>;

/**
 * Rows from before ADD COLUMN store no value. In a BYTE, SHORT or BOOLEAN column, they read 0 or false. After a change to a type with NULL,
 * they would read NULL. The printed UPDATE stores the 0 or false first.
 */
export const printFill = ({ table, column }: FilledColumn, type: string): string =>
  `UPDATE '${table}' SET "${column}" = "${column}" WHERE "${column}" = ${type === 'BOOLEAN' ? 'false' : '0'};`;

/** Parses a statement of `printFill`. Undefined for any other statement. */
export function parseFill(statement: string): FilledColumn | undefined {
  const [first] = significantTokens(statement);
  const [, table, column] =
    /^UPDATE '([^']+)' SET "([^"]+)" = "\2" WHERE "\2" = (?:0|false);?\s*$/.exec(statement.slice(first?.start)) ?? [];
  return table && column ? { table, column } : undefined;
}
