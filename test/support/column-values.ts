/*! Values for columns of each type, as the server reads them in CAST. */

export const nines = (precision: number, scale: number): string =>
  `${'9'.repeat(precision - scale)}${scale > 0 ? `.${'9'.repeat(scale)}` : ''}m`;

const decimalValues = (precision: number, scale: number): string[] => [
  nines(precision, scale),
  `-${nines(precision, scale)}`,
  '0m',
  'null',
];

const TEXT_VALUES = ["''", "'a'", "' 7 '", "'NaN'", "'null'", "'😀é'", `'${'long '.repeat(2000)}'`, 'null'];

/** The values at the ends of each type, and those that are not like others. */
export const VALUES: Readonly<Record<string, readonly string[]>> = {
  BOOLEAN: ['true', 'false'],
  BYTE: ['-128', '127', '0'],
  SHORT: ['-32768', '32767', '0'],
  CHAR: ["'a'", "' '", "'é'", "'€'", 'null'],
  INT: ['-2147483647', '2147483647', '16777217', '0', 'null'],
  IPv4: ["'0.0.0.1'", "'255.255.255.255'", 'null'],
  LONG: ['-9223372036854775807', '9223372036854775807', '9007199254740993', '0', 'null'],
  FLOAT: ["'3.4028235E38'", "'-1.4E-45'", "'1.1'", "'-0.0'", "'NaN'", "'Infinity'", "'-Infinity'", 'null'],
  DOUBLE: ['1.7976931348623157E308', '-4.9E-324', '0.1', "'-0.0'", "'NaN'", "'Infinity'", "'-Infinity'", 'null'],
  DATE: ['0', '-62135596800000', '253402300799999', '9223372036854775807', 'null'],
  TIMESTAMP: ['0', '-62135596800000000', '253402300799999999', '9223372036854775807', 'null'],
  TIMESTAMP_NS: ['0', '-9223372036854775807', '9223372036854775807', 'null'],
  STRING: TEXT_VALUES,
  VARCHAR: TEXT_VALUES,
  SYMBOL: TEXT_VALUES,
  UUID: ["'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'", 'null'],
  'DECIMAL(3,0)': decimalValues(3, 0),
  'DECIMAL(5,0)': decimalValues(5, 0),
  'DECIMAL(8,1)': decimalValues(8, 1),
  'DECIMAL(10,0)': decimalValues(10, 0),
  'DECIMAL(10,2)': decimalValues(10, 2),
  'DECIMAL(19,0)': decimalValues(19, 0),
  'DECIMAL(38,10)': decimalValues(38, 10),
  'DECIMAL(76,30)': decimalValues(76, 30),
};

export const TYPES = Object.keys(VALUES);

/** Inserts a row for each value of a type, the same value in each of some columns. */
export function insertCells(
  table: string,
  columns: readonly string[],
  type: string,
  values: readonly string[],
): string {
  const cells = values.map(
    (value, at) => `SELECT ${at}::timestamp ts, CAST(${value} AS ${type}) v FROM long_sequence(1)`,
  );
  return `INSERT INTO ${table} SELECT ts, ${columns.map(() => 'v').join(', ')} FROM (${cells.join(' UNION ALL ')})`;
}

export const MORE_VALUES: Readonly<Record<string, readonly string[]>> = {
  BYTE: ['1', '2'],
  SHORT: ['1', '128', '300', '-1'],
  CHAR: ["'7'", "''"],
  INT: ['1', '2', '100', '70000', '-1'],
  LONG: ['1', '5000000001', '300', '70000', '2147483648', '-2147483648', '4294967296', '1700000000000001'],
  FLOAT: ['1', '0', '0.5', '-1.5', '300', '1e-12', '100000.5', '16777216', '2147483648', '9223372036854775807'],
  DOUBLE: ['1', '-1.5', '70000', '1e-12', '1.00000000001', '5000000001', '123456789.123', '2147483648', '9.3e18'],
  DATE: ['1', '300', '5000000001', '9223372036854', '1700000000001'],
  TIMESTAMP: ['1', '300', '1000', '5000000001', '1700000000000001', '9223372036854775', '9223372036854776'],
  TIMESTAMP_NS: ['1', '300', '1000', '1000000', '5000000001', '1700000000000000001'],
  ...Object.fromEntries(
    ['STRING', 'VARCHAR', 'SYMBOL'].map(type => [
      type,
      [
        ...["'7'", "'007'", "'1.50'", "'0.1'", "'1e3'", "'300'", "'5000000001'", "'true'", "'TRUE'", "'€'", "'?'"],
        ...["'2024-01-01'", "'2024-01-01T00:00:00.000001Z'", "'1.2.3.4'", "'11111111-1111-1111-1111-11111111111A'"],
      ],
    ]),
  ),
};
