/*!
 * Changes of tables about which their rows decide: a type change that would suspend the table, or that loses values, and changes
 * over Parquet partitions. A server answers at once; without one, assertions decide when the plan is applied. Each statement was
 * tried on 9.3.4.
 */
import {
  type Alteration,
  type Column,
  decimalLimits,
  findColumn,
  hasNull,
  isLossless,
  printAlter,
  printFill,
  type TableDefinition,
} from '@sqlpipe/ddl';
import { isSameName } from '@sqlpipe/sql';
import { type Draft, describe } from './draft.js';
import { withoutComments } from './history.js';
import type { Task } from './task.js';

/** Alters a table, unless its rows do not allow it, with what has to be done before. @returns whether it is altered */
export function alterRows(
  table: TableDefinition,
  alteration: Alteration,
  properties: readonly string[],
  task: Task,
  draft: Draft,
): boolean {
  const { name } = table;
  const statement = printAlter({ kind: 'table', name, alteration });
  const change = { identity: { kind: 'table', name, verb: 'ALTER' }, properties, what: describe(statement) } as const;
  const before = findColumn(table, 'column' in alteration ? String(alteration.column) : '');
  const isRetyped = alteration.change === 'type' && before !== undefined;
  const reason =
    whyParquetForbids(table, alteration, task) ??
    (isRetyped ? whyValuesForbid(name, before, alteration.type, task) : undefined);
  if (reason !== undefined) {
    draft.omit(change, reason);
    return false;
  }
  const first = isRetyped ? prepareConversion(name, before, alteration.type, task, draft) : [];
  return draft.add(change, [...first, statement]);
}

/** The assertions that are needed before a conversion, and the statement that keeps what older rows read. */
function prepareConversion(table: string, { name, type }: Column, to: string, { rows }: Task, draft: Draft): string[] {
  const native = printNativeAssertion(table);
  const isKnown = rows.isAsked || draft.steps.some(({ statement }) => statement === native);
  const misfit = printMisfit(name, type, to);
  return [
    ...(isKnown ? [] : [native]),
    ...(misfit === undefined ? [] : [printFitAssertion(table, misfit)]),
    ...(!hasNull(type) && hasNull(to) ? [printFill({ table, column: name }, type)] : []),
  ];
}

/** What 9.3.4 does to a table with Parquet partitions. */
const PARQUET_PROBLEMS: Readonly<Record<string, string>> = {
  type: 'over which a change of a type suspends the table',
  'add column': 'which cannot be read after a column was added',
  'drop column': 'which cannot be read after a column was dropped',
};

function whyParquetForbids(table: TableDefinition, { change }: Alteration, task: Task): string | undefined {
  const problem = PARQUET_PROBLEMS[change];
  if (problem === undefined) return undefined;
  const name = nameInB(table.name, task);
  const [count] = task.rows.find(printParquetQuestion(name)) ?? [];
  if (!count) return undefined;
  return `${Number(count)} ${count === 1 ? 'partition is' : 'partitions are'} Parquet, ${problem}; ${convertBack(name, `"${table.timestamp}"`)} first`;
}

function whyValuesForbid(table: string, { name, type }: Column, to: string, task: Task): string | undefined {
  const at = { table: nameInB(table, task), column: columnInB(table, name, task) };
  const misfit = printMisfit(at.column, type, to);
  if (misfit !== undefined) {
    const [count] = task.rows.find(printMisfitQuestion(at.table, misfit)) ?? [];
    return count ? describeMisfits(Number(count)) : undefined;
  }
  if (isLossless(type, to) || !hasNull(type) || !hasNull(to)) return undefined;
  const [lost, total] = task.rows.find(printNullQuestion(at.table, at.column, type, to)) ?? [];
  if (lost) task.rows.noteLost(table, name, `; ${lost} of ${total} become NULL`);
  return undefined;
}

/** The name that a table has on the server. */
const nameInB = (table: string, { requests }: Task): string =>
  [...requests.renames.objects].find(([, to]) => isSameName(to, table))?.[0] ?? table;

const columnInB = (table: string, column: string, { requests }: Task): string =>
  [...requests.renames.columnsOf(table)].find(([, to]) => isSameName(to, column))?.[0] ?? column;

/** The statement that makes a change over Parquet partitions possible. */
const convertBack = (table: string, timestamp = '…'): string =>
  `use ALTER TABLE '${table}' CONVERT PARTITION TO NATIVE WHERE ${timestamp} IS NOT NULL`;

const describeMisfits = (count: number): string =>
  `${count} ${count === 1 ? 'value does' : 'values do'} not fit, and the table would be suspended; UPDATE ${count === 1 ? 'it' : 'them'} first`;

/** The condition for the values that do not fit into a decimal (the remainder of NULL is not NULL); undefined if all values fit, or the type is no decimal. */
function printMisfit(column: string, from: string, to: string): string | undefined {
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

const printMisfitQuestion = (table: string, misfit: string): string => `SELECT count() FROM '${table}' WHERE ${misfit}`;

const printParquetQuestion = (table: string): string =>
  `SELECT count() FROM table_partitions('${table}') WHERE isParquet`;

/** The query for the number of values that become NULL, and of all. The server casts a SYMBOL to a DATE in another way. */
function printNullQuestion(table: string, column: string, from: string, to: string): string {
  const value = from === 'SYMBOL' ? `CAST("${column}" AS STRING)` : `"${column}"`;
  return `SELECT count("${column}") - count(CAST(${value} AS ${to})), count("${column}") FROM '${table}'`;
}

/** An assertion is a question whose answer must be 0. */
const printFitAssertion = (table: string, misfit: string): string =>
  `${printMisfitQuestion(table, misfit).replace('count()', 'count() = 0 AS all_fit')};`;

const printNativeAssertion = (table: string): string =>
  `${printParquetQuestion(table).replace('count()', 'count() = 0 AS all_native')};`;

/** What an assertion about the rows of a table is about. */
export interface RowsAssertion {
  readonly assertion: 'all fit' | 'all native';
  readonly table: string;
  /** The query for the number of values or partitions that are in the way. */
  readonly question: string;
}

const MISFIT = /^"([^"]+)" (?:>= 10*m?|<= -10*m?|% (?:1m|0\.0*1m) <> 0m AND "\1" IS NOT NULL)(?: OR (?=")|$)/;

/** Reads an assertion about the rows of a table; undefined for any other statement. */
export function parseRowsAssertion(statement: string): RowsAssertion | undefined {
  const text = withoutComments(statement);
  const [, native] = / FROM table_partitions\('([^']+)'\) WHERE isParquet;$/.exec(text) ?? [];
  if (native !== undefined && text === printNativeAssertion(native))
    return { assertion: 'all native', table: native, question: printParquetQuestion(native) };
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

/** What such an assertion does, for a comment. */
export const describeRowsAssertion = ({ assertion, table }: RowsAssertion): string =>
  assertion === 'all fit'
    ? `stops the plan if '${table}' has values that do not fit into the new type, which would suspend it`
    : `stops the plan if '${table}' has Parquet partitions, over which a change of a type suspends it`;

/** Why such an assertion is not true, and what to do. @param count the answer to its question */
export const explainRowsAssertion = ({ assertion, table }: RowsAssertion, count: number): string =>
  assertion === 'all fit'
    ? `'${table}': ${describeMisfits(count)}`
    : `'${table}' has Parquet partitions (${count}), over which a change of a type suspends it; ${convertBack(table)} first`;

/** The assertions that a rebuild needs before it casts the rows: where a value does not fit, the server would stop in the middle. */
export const printCastAssertion = (table: string, { name, type }: Column, to: string): string[] => {
  const misfit = printMisfit(name, type, to);
  return misfit === undefined ? [] : [printFitAssertion(table, misfit)];
};
