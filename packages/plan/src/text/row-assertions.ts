/*! The assertions about the rows of a table: that values fit into a new type, that no partition is Parquet, that there are none. */
import { type Column, decimalLimits, hasNull } from '@sqlpipe/ddl';
import { withoutComments } from './statement-text.js';

/** The statement that makes a change over Parquet partitions possible. */
export const convertBack = (table: string, timestamp = '…'): string =>
  `use ALTER TABLE '${table}' CONVERT PARTITION TO NATIVE WHERE ${timestamp} IS NOT NULL`;

/** Why values that do not fit are in the way. */
export const describeMisfits = (count: number): string =>
  `${count} ${count === 1 ? 'value does' : 'values do'} not fit, and the table would be suspended; UPDATE ${count === 1 ? 'it' : 'them'} first`;

/** The condition for the values that do not fit into a decimal (the remainder of NULL is not NULL); undefined if all values fit, or the type is no decimal. */
export function printMisfit(column: string, from: string, to: string): string | undefined {
  const { digits, scale } = decimalLimits(from, to) ?? {};
  const [name, suffix] = [`"${column}"`, from.startsWith('DECIMAL') ? 'm' : ''];
  const limit = digits === undefined ? '' : `1${'0'.repeat(digits)}${suffix}`;
  const unit = scale === undefined ? '' : scale === 0 ? '1m' : `0.${'0'.repeat(scale - 1)}1m`;
  const conditions = [
    ...(limit ? [`${name} >= ${limit}`, `${name} <= -${limit}`] : []),
    ...(unit ? [`${name} % ${unit} <> 0m AND ${name} IS NOT NULL`] : []),
  ];
  return conditions.length === 0 ? undefined : conditions.join(' OR ');
}

/** The query for the number of values that do not fit. */
export const printMisfitQuestion = (table: string, misfit: string): string =>
  `SELECT count() FROM '${table}' WHERE ${misfit}`;

/** The query for the number of Parquet partitions. */
export const printParquetQuestion = (table: string): string =>
  `SELECT count() FROM table_partitions('${table}') WHERE isParquet`;

/** The assertion that all values fit: a question whose answer must be 0. */
export const printFitAssertion = (table: string, misfit: string): string =>
  `${printMisfitQuestion(table, misfit).replace('count()', 'count() = 0 AS all_fit')};`;

/** The assertion that no partition is Parquet. */
export const printNativeAssertion = (table: string): string =>
  `${printParquetQuestion(table).replace('count()', 'count() = 0 AS all_native')};`;

/** A table, or a column of it with its type. */
export interface Emptied {
  readonly table: string;
  readonly column?: Pick<Column, 'name' | 'type'>;
}

/** The query for the number of rows, or for the number of values. Types without NULL have a value that a new column has. */
function printCountQuestion({ table, column }: Emptied): string {
  const { name, type = '' } = column ?? {};
  const has = type === 'BOOLEAN' ? '= true' : hasNull(type) ? 'IS NOT NULL' : '<> 0';
  return `SELECT count() FROM '${table}'${name === undefined ? '' : ` WHERE "${name}" ${has}`}`;
}

/** The assertion that a table has no rows, or a column no values. */
export const printEmptyAssertion = (emptied: Emptied): string =>
  `${printCountQuestion(emptied).replace('count()', 'count() = 0 AS is_empty')};`;

/** The assertions that a rebuild needs before it casts the rows: where a value does not fit, the server would stop in the middle. */
export const printCastAssertion = (table: string, { name, type }: Column, to: string): string[] => {
  const misfit = printMisfit(name, type, to);
  return misfit === undefined ? [] : [printFitAssertion(table, misfit)];
};

/** What an assertion about the rows of a table is about. */
export interface RowsAssertion {
  readonly assertion: 'all fit' | 'all native' | 'is empty';
  readonly table: string;
  readonly column?: string;
  /** The query for the number of values or partitions that are in the way. */
  readonly question: string;
}

const MISFIT = /^"([^"]+)" (?:>= 10*m?|<= -10*m?|% (?:1m|0\.0*1m) <> 0m AND "\1" IS NOT NULL)(?: OR (?=")|$)/;

const EMPTY = /^SELECT count\(\) = 0 AS is_empty FROM '([^']+)'(?: WHERE "([^"]+)" (IS NOT NULL|<> 0|= true))?;$/;

/** A type whose values are found by a condition. */
const EMPTY_TYPES: Readonly<Record<string, string>> = { '<> 0': 'SHORT', '= true': 'BOOLEAN' };

/** Reads an assertion about the rows of a table; undefined for any other statement. */
export function parseRowsAssertion(statement: string): RowsAssertion | undefined {
  const text = withoutComments(statement);
  const [, native] = / FROM table_partitions\('([^']+)'\) WHERE isParquet;$/.exec(text) ?? [];
  if (native !== undefined && text === printNativeAssertion(native))
    return { assertion: 'all native', table: native, question: printParquetQuestion(native) };
  const [, empty, column, has] = EMPTY.exec(text) ?? [];
  if (empty !== undefined) {
    const emptied = {
      table: empty,
      ...(column !== undefined && { column: { name: column, type: EMPTY_TYPES[has ?? ''] ?? 'INT' } }),
    };
    return {
      assertion: 'is empty',
      table: empty,
      ...(column !== undefined && { column }),
      question: printCountQuestion(emptied),
    };
  }
  const [, table, misfit] = /^SELECT count\(\) = 0 AS all_fit FROM '([^']+)' WHERE (.+);$/.exec(text) ?? [];
  if (table === undefined || misfit === undefined || !isMisfit(misfit)) return undefined;
  return { assertion: 'all fit', table, question: printMisfitQuestion(table, misfit) };
}

function isMisfit(condition: string): boolean {
  for (let rest = condition; ; ) {
    const [first] = MISFIT.exec(rest) ?? [];
    if (first === undefined) return false;
    rest = rest.slice(first.length);
    if (rest === '') return true;
  }
}

const PARQUET_PROBLEM = 'which ADD COLUMN and DROP COLUMN make unreadable, and over which TYPE suspends it';

/** What such an assertion does, for a comment. */
export const describeRowsAssertion = ({ assertion, table, column }: RowsAssertion): string =>
  assertion === 'is empty'
    ? `stops the plan if ${column === undefined ? `'${table}' has rows` : `column '${column}' of '${table}' has values`}`
    : assertion === 'all fit'
      ? `stops the plan if '${table}' has values that do not fit into the new type, which would suspend it`
      : `stops the plan if '${table}' has Parquet partitions, ${PARQUET_PROBLEM}`;

/** Why such an assertion is not true, and what to do. @param count the answer to its question */
export const explainRowsAssertion = ({ assertion, table, column }: RowsAssertion, count: number): string =>
  assertion === 'is empty'
    ? `${column === undefined ? `'${table}' has ${count} ${count === 1 ? 'row' : 'rows'}` : `column '${column}' of '${table}' has ${count} ${count === 1 ? 'value' : 'values'}`}, which would be lost`
    : assertion === 'all fit'
      ? `'${table}': ${describeMisfits(count)}`
      : `'${table}' has Parquet partitions (${count}), ${PARQUET_PROBLEM}; ${convertBack(table)} first`;
