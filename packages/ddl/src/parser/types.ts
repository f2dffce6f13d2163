import { type Cursor, RejectionError } from './cursor.js';
import { parseLiteral } from './names.js';
import { parseInt32 } from './numbers.js';

const EXPRESSION_ONLY = new Set(['INTERVAL', 'PARAMETER', 'CURSOR', 'regclass', 'regprocedure']);

/** The types of columns that have neither options nor parameters. The most frequent come first, for patterns that try them in turn. */
export const PLAIN_TYPES =
  'BOOLEAN BYTE SHORT CHAR INT LONG LONG128 LONG256 FLOAT DOUBLE DATE TIMESTAMP TIMESTAMP_NS STRING VARCHAR BINARY UUID IPv4'.split(
    ' ',
  );

/** Matches a type with its parameters and dimensions, as a part of a pattern: `INT`, `DECIMAL(18,3)`, `DOUBLE[][]`. */
export const TYPE_PATTERN = String.raw`[A-Za-z]\w*(?:\(\w+(?:,\w+)?\))?(?:\[\])*`;

/** Maps the names of types in statements, in lower case, to the names that servers print (read in ColumnType). */
export const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ...[...PLAIN_TYPES, 'SYMBOL', 'GEOHASH', 'DECIMAL'].map(type => [type.toLowerCase(), type] as const),
  ...Object.entries({
    real: 'FLOAT',
    integer: 'INT',
    bigint: 'LONG',
    smallint: 'SHORT',
    text: 'STRING',
    bytea: 'STRING',
  }),
]);

const PARSED_TYPE_NAMES = new Map([
  ...TYPE_NAMES,
  ...[...EXPRESSION_ONLY, 'ARRAY'].map(type => [type.toLowerCase(), type] as const),
]);

const MAX_DIMENSIONS = 32;

/** Whether a type is TIMESTAMP or TIMESTAMP_NS. */
export const isTimestamp = (type: string): boolean => type === 'TIMESTAMP' || type === 'TIMESTAMP_NS';

/** Whether a type is a DECIMAL of any size. */
export const isDecimal = (type: string | undefined): boolean => type?.startsWith('DECIMAL') ?? false;

/** Whether a type is an array of any number of dimensions. */
export const isArray = (type: string): boolean => type.endsWith('[]');

/** @param isAltered whether the type is that of a column in an ALTER, which has other messages and positions */
export function parseColumnType(cursor: Cursor, token: string, isAltered = false): string {
  const position = cursor.start;
  if (token === '[') throw misplacedBracketError(cursor, position);
  const type = PARSED_TYPE_NAMES.get(token.toLowerCase());
  if (!type) throw new RejectionError(position, `unsupported column type: ${token}`);
  if (EXPRESSION_ONLY.has(type)) throw new RejectionError(position, `non-persisted type: ${token}`);
  if (type === 'DOUBLE') cursor.accept('precision');
  const dimensions = parseArrayDimensions(cursor, type, position);
  if (dimensions > 0 && type !== 'DOUBLE')
    throw new RejectionError(position, `unsupported array element type [type=${type}]`);
  if (dimensions > MAX_DIMENSIONS)
    throw new RejectionError(position, `too many array dimensions [nDims=${dimensions}, maxNDims=${MAX_DIMENSIONS}]`);
  if (dimensions > 0) return type + '[]'.repeat(dimensions);
  if (type === 'GEOHASH') return parseGeohash(cursor, isAltered);
  if (type === 'DECIMAL') return parseDecimal(cursor);
  return type;
}

/** The rejection of a `[` in the position of a type: the start of a misspelt array. */
function misplacedBracketError(cursor: Cursor, position: number): RejectionError {
  const second = cursor.next();
  if (second === undefined) return new RejectionError(position, "dangling '[' where column type is expected");
  if (second === ']') {
    const third = cursor.next();
    if (third === undefined) return new RejectionError(position, "did you mean 'double[]'?");
    if (!'),('.includes(third)) return new RejectionError(position, `did you mean '${third}[]'?`);
  }
  return new RejectionError(position, 'column type is expected here');
}

function parseArrayDimensions(cursor: Cursor, type: string, typePosition: number): number {
  if (type === 'ARRAY')
    throw new RejectionError(
      typePosition,
      'the system supports type-safe arrays, e.g. `type[]`. Supported types are: DOUBLE. More types incoming.',
    );
  let dimensions = 0;
  let sized: number | undefined;
  while (cursor.next() === '[') {
    const open = cursor.start;
    if (/\s/.test(cursor.text.charAt(open - 1)))
      throw new RejectionError(open, 'array type requires no whitespace between type and brackets');
    const inside = cursor.next();
    if (inside === ']') dimensions++;
    else if (inside !== undefined && parseInt32(inside) !== undefined) {
      sized ??= cursor.start;
      // Like the server, treat the token after the number as the next bracket.
    } else throw arrayTypeError(cursor, type, typePosition, open, dimensions);
  }
  cursor.unread();
  if (sized !== undefined) throw new RejectionError(sized, 'arrays do not have a fixed size, remove the number');
  return dimensions;
}

function arrayTypeError(cursor: Cursor, type: string, typePosition: number, open: number, dimensions: number) {
  let last = cursor.start;
  let token = cursor.next();
  while (token !== undefined && !'],)'.includes(token)) {
    last = cursor.start;
    token = cursor.next();
  }
  const stop = token === ']' ? cursor.start : last;
  const expected = type + '[]'.repeat(dimensions + 1);
  const seen = cursor.text.slice(typePosition, stop);
  return new RejectionError(
    open,
    `syntax error at column type definition, expected array type: '${expected}...', but found: '${seen}'`,
  );
}

/** Parses `(5c)` or `(33b)`. */
function parseGeohash(cursor: Cursor, isAltered: boolean): string {
  const hasPrecision = cursor.accept('(');
  if (isAltered && !hasPrecision) throw new RejectionError(cursor.reach, 'missing GEOHASH precision');
  if (!hasPrecision) cursor.expect('(');
  const { start } = cursor;
  const literal = parseLiteral(cursor);
  const [name, position] = [literal.name, isAltered ? literal.start : start];
  const count = parseInt32(name.slice(0, -1));
  if (count === undefined)
    throw new RejectionError(position, "invalid GEOHASH size, must be number followed by 'C' or 'B' character");
  const unit = name.slice(-1).toLowerCase();
  if (unit !== 'c' && unit !== 'b')
    throw new RejectionError(position, "invalid GEOHASH size units, must be 'c', 'C' for chars, or 'b', 'B' for bits");
  const bits = unit === 'c' ? count * 5 : count;
  if (bits < 1 || bits > 60)
    throw new RejectionError(position, `invalid GEOHASH type precision range, must be [1, 60] bits, provided=${bits}`);
  cursor.expect(')');
  return printGeohashType(bits);
}

/** Prints a GEOHASH type as the server does: in characters if the number of bits is a multiple of five. */
export const printGeohashType = (bits: number): string =>
  bits % 5 === 0 ? `GEOHASH(${bits / 5}c)` : `GEOHASH(${bits}b)`;

const MAX_PRECISION = 76;

/** Parses `(precision[, scale])`; without it the type has 18 digits, 3 of them after the point. */
function parseDecimal(cursor: Cursor): string {
  const start = cursor.start;
  const bad = (position: number, problem: string) => new RejectionError(position, `Invalid decimal type. ${problem}`);
  const number = (what: string): number => {
    const token = cursor.next();
    if (token === undefined || token.startsWith(')')) throw bad(cursor.start, `The ${what} is missing`);
    const value = parseInt32(token);
    if (value === undefined) throw bad(cursor.start, `The ${what} ('${token}') must be a number`);
    return value;
  };

  if (!cursor.accept('(')) return 'DECIMAL(18,3)';
  const precision = number('precision');
  let scale = precision < 8 ? 0 : 3;
  let token = cursor.next();
  if (token === ',') {
    scale = number('scale');
    token = cursor.next();
  }
  if (token !== ')') throw bad(cursor.start, "Missing ')'");
  const subject = `The precision (${precision}) must be`;
  if (precision <= 0) throw bad(start, `${subject} greater than zero`);
  if (precision > MAX_PRECISION) throw bad(start, `${subject} less than ${MAX_PRECISION}`);
  if (scale < 0) throw bad(start, `The scale (${scale}) must be greater than or equal to zero`);
  if (scale > precision) throw bad(start, `${subject} greater than or equal to the scale (${scale})`);
  return `DECIMAL(${precision},${scale})`;
}
