/*!
 * The type conversions of ALTER COLUMN … TYPE. Each was tried on 9.3.4 with the smallest and largest values and times, NULL, NaN,
 * infinities, -0.0, and texts (empty, long, emoji). test/packages/converted-values.test.ts tries those that are called lossless again.
 *
 * A value that the new type cannot hold becomes NULL, 0 or another value. Two kinds of conversions suspend a WAL table instead:
 * to a DECIMAL, if a value does not fit, and from a DECIMAL to an integer, whatever the values are.
 * BYTE, SHORT and BOOLEAN have no NULL. Rows from before such a column was added read 0 or false. After a change to a type with NULL
 * they read NULL, unless these values are written first (`printFill`).
 */
import { foldCase, significantTokens } from '@sqlpipe/sql';

const TEXTS = ['STRING', 'VARCHAR', 'SYMBOL'];
const INTEGERS = ['BYTE', 'SHORT', 'INT', 'LONG'];
const FLOATS = ['FLOAT', 'DOUBLE'];
const TIMES = ['DATE', 'TIMESTAMP', 'TIMESTAMP_NS'];
const NUMBERS = [...INTEGERS, ...FLOATS, ...TIMES, 'BOOLEAN', ...TEXTS];
const NAMED = ['IPv4', 'UUID', 'CHAR'];

/** Whether ALTER COLUMN … TYPE accepts a conversion (each pair was tried on 9.3.4). */
export function isAcceptedConversion(from: string, to: string): boolean {
  const isBetween = (some: readonly string[], others: readonly string[]) =>
    (some.includes(from) && others.includes(to)) || (some.includes(to) && others.includes(from));
  const decimals = [from, to].filter(isDecimal);
  return isBetween(NUMBERS, NUMBERS) || isBetween(NAMED, TEXTS) || isBetween(decimals, [...INTEGERS, ...decimals]);
}

/** Whether a column can be converted. From a decimal to an integer, 9.3.4 accepts it and suspends the table at the first row. */
export const canConvert = (from: string, to: string): boolean =>
  isAcceptedConversion(from, to) && !(isDecimal(from) && !isDecimal(to));

const isDecimal = (type: string): boolean => type.startsWith('DECIMAL');

/** For each type, the types that can represent all of its values; as text counts too. */
const WIDER: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(['LONG', 'BOOLEAN', ...NAMED, ...TEXTS].map(type => [type, TEXTS])),
  BYTE: ['SHORT', 'INT', 'LONG', ...FLOATS, ...TEXTS],
  SHORT: ['INT', 'LONG', ...FLOATS, ...TEXTS],
  INT: ['LONG', 'DOUBLE', ...TEXTS],
  FLOAT: ['DOUBLE'],
};

/** The number of decimal digits of the largest value of each type. */
const DIGITS: Readonly<Record<string, number>> = { BYTE: 3, SHORT: 5, INT: 10, LONG: 19 };

/** Whether a conversion keeps every value that a column of the first type can hold. */
export function isLossless(from: string, to: string): boolean {
  if (from === to || WIDER[from]?.includes(to)) return true;
  const limits = TIMES.includes(from) ? undefined : decimalLimits(from, to); // no ALTER makes decimals of times, but a cast does
  return limits !== undefined && limits.digits === undefined && limits.scale === undefined;
}

/** What a decimal type demands of the values of another type; without what that type demands already. */
export interface DecimalLimits {
  /** The maximum number of digits before the decimal point. */
  readonly digits?: number;
  /** The maximum number of digits after the decimal point. */
  readonly scale?: number;
}

/** What values must keep to be converted to a decimal; undefined for any other conversion. */
export function decimalLimits(from: string, to: string): DecimalLimits | undefined {
  const [before, after] = [decimalOf(from), decimalOf(to)];
  const digits = before ? before.precision - before.scale : DIGITS[TIMES.includes(from) ? 'LONG' : from];
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

/** The only types to which some types can be cast. Each pair was tried on 9.3.4 in INSERT … SELECT, with NULL among the values. */
const CASTS_FROM: Readonly<Record<string, readonly string[]>> = {
  BINARY: [],
  ARRAY: TEXTS,
  GEOHASH: [...TEXTS, 'GEOHASH'],
  DECIMAL: [...INTEGERS, ...FLOATS, ...TEXTS, 'DECIMAL'],
  IPv4: ['INT', ...TEXTS],
};
/** The only types that can be cast to some types. */
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

const familyOf = (type: string): string => (type.endsWith('[]') ? 'ARRAY' : type.replace(/\(.*/, ''));

/** Whether `printTypeCast` makes something that the server accepts, whatever the values are. */
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

/** Casts a value to another type. To and from a SYMBOL, 9.3.4 casts some types rightly only as a text: a DATE would be a number. */
export const printTypeCast = (value: string, from: string, to: string): string =>
  `CAST(${from === 'SYMBOL' || to === 'SYMBOL' ? `CAST(${value} AS STRING)` : value} AS ${to})`;

/** The first floating point numbers that are too large for a type: CAST makes the largest value of them, ALTER makes NULL. */
const TOO_LARGE: Readonly<Record<string, string>> = {
  INT: '2147483648.0',
  ...Object.fromEntries(['LONG', ...TIMES].map(type => [type, '9223372036854775807.0'])),
};

/**
 * Prints what ALTER COLUMN … TYPE makes of a value, where CAST does otherwise: it rejects times beyond the nanoseconds, which
 * ALTER wraps; and of a VARCHAR, ALTER reads one byte as a CHAR.
 */
export function printConverted(value: string, from: string, to: string): string {
  if (from === 'TIMESTAMP' && to === 'TIMESTAMP_NS') return `CAST(CAST(${value} AS LONG) * 1000 AS TIMESTAMP_NS)`;
  if (from === 'VARCHAR' && to === 'CHAR')
    return `CASE WHEN length(${value}) = length_bytes(${value}) THEN CAST(${value} AS CHAR) ELSE '?' END`;
  const limit = FLOATS.includes(from) ? TOO_LARGE[to] : undefined;
  if (limit === undefined) return printTypeCast(value, from, to);
  const number = `CAST(${value} AS DOUBLE)`;
  return `CASE WHEN ${number} < ${limit} THEN CAST(${number} AS ${to}) END`;
}

/** Whether a type has NULL. */
export const hasNull = (type: string): boolean => !['BYTE', 'SHORT', 'BOOLEAN'].includes(type);

export interface FilledColumn {
  readonly table: string;
  readonly column: string;
}

/** Prints an UPDATE that stores 0 or false in rows older than a column without NULL. They then keep it in a type with NULL. */
export const printFill = ({ table, column }: FilledColumn, type: string): string =>
  `UPDATE '${table}' SET "${column}" = "${column}" WHERE "${column}" = ${type === 'BOOLEAN' ? 'false' : '0'};`;

/** The column that a statement fills in this way, both in lower case; undefined for any other statement. */
export function parseFill(statement: string): FilledColumn | undefined {
  const [first] = significantTokens(statement);
  const [, table, column] =
    /^UPDATE '([^']+)' SET "([^"]+)" = "\2" WHERE "\2" = (?:0|false);?\s*$/.exec(statement.slice(first?.start)) ?? [];
  return table && column ? { table: foldCase(table), column: foldCase(column) } : undefined;
}
