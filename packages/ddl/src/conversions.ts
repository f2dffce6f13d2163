/*! The type conversions that ALTER COLUMN … TYPE accepts, and those that keep every value (each was tried on 9.3.4). */

const TEXTS = ['STRING', 'VARCHAR', 'SYMBOL'];
const NUMBERS = [
  'BYTE',
  'SHORT',
  'INT',
  'LONG',
  'FLOAT',
  'DOUBLE',
  'TIMESTAMP',
  'TIMESTAMP_NS',
  'BOOLEAN',
  'DATE',
  ...TEXTS,
];
const NAMED = ['IPv4', 'UUID', 'CHAR'];

const INTEGERS = ['BYTE', 'SHORT', 'INT', 'LONG'];

/** Whether ALTER COLUMN … TYPE accepts a conversion (each pair was tried on 9.3.4). */
export function isAcceptedConversion(from: string, to: string): boolean {
  const isBetween = (some: readonly string[], others: readonly string[]) =>
    (some.includes(from) && others.includes(to)) || (some.includes(to) && others.includes(from));
  const decimals = [from, to].filter(isDecimal);
  return isBetween(NUMBERS, NUMBERS) || isBetween(NAMED, TEXTS) || isBetween(decimals, [...INTEGERS, ...decimals]);
}

/**
 * Whether a column can be converted. A conversion to or from a decimal is possible only if all values fit: 9.3.4 accepts
 * others too, but suspends the table at the first value that does not fit (observed).
 */
export const canConvert = (from: string, to: string): boolean =>
  [from, to].some(isDecimal) ? isLossless(from, to) : isAcceptedConversion(from, to);

const isDecimal = (type: string): boolean => type.startsWith('DECIMAL');

/** For each type, the types that can represent all of its values; as text counts too. */
const WIDER: Readonly<Record<string, readonly string[]>> = {
  BYTE: ['SHORT', 'INT', 'LONG', 'FLOAT', 'DOUBLE', ...TEXTS],
  SHORT: ['INT', 'LONG', 'FLOAT', 'DOUBLE', ...TEXTS],
  INT: ['LONG', 'DOUBLE', ...TEXTS],
  LONG: TEXTS,
  FLOAT: ['DOUBLE'],
  BOOLEAN: TEXTS,
  CHAR: TEXTS,
  UUID: TEXTS,
  IPv4: TEXTS,
  STRING: TEXTS,
  VARCHAR: TEXTS,
  SYMBOL: TEXTS,
};

/** The number of decimal digits of the largest value of each type. */
const DIGITS: Readonly<Record<string, number>> = { BYTE: 3, SHORT: 5, INT: 10, LONG: 19 };

/** Whether a conversion keeps every value that a column of the first type can hold. */
export function isLossless(from: string, to: string): boolean {
  if (from === to || WIDER[from]?.includes(to)) return true;
  const target = decimalOf(to);
  const source = decimalOf(from);
  if (!target) return false;
  const digits = source ? source.precision - source.scale : DIGITS[from];
  if (digits === undefined || target.precision - target.scale < digits) return false;
  return target.scale >= (source?.scale ?? 0);
}

function decimalOf(type: string): { precision: number; scale: number } | undefined {
  const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? [];
  return precision === undefined ? undefined : { precision: Number(precision), scale: Number(scale) };
}
