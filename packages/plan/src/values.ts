/*!
 * Changes of tables about which their rows decide: a type change that would suspend the table, or that loses values, and changes
 * over Parquet partitions. A server answers at once; without one, assertions decide when the plan is applied. Each statement was
 * tried on 9.3.4.
 */
import {
  type Alteration,
  type Column,
  findColumn,
  hasNull,
  isLaterVersion,
  isLossless,
  printAlter,
  printFill,
  type TableDefinition,
} from '@sqlpipe/ddl';
import { isSameName } from '@sqlpipe/sql';
import type { Draft } from './draft.js';
import type { Task } from './task.js';
import {
  convertBack,
  describeMisfits,
  printFitAssertion,
  printMisfit,
  printMisfitQuestion,
  printNativeAssertion,
  printParquetQuestion,
} from './text/row-assertions.js';
import { describe } from './text/statement-text.js';

import { describeUnalterable } from './unalterable.js';
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
    whyTimestampForbids(table, alteration) ??
    (isRetyped ? whyValuesForbid(name, before, alteration.type, task) : undefined);
  if (reason !== undefined) {
    draft.omit(change, reason);
    return false;
  }
  const native = printNativeAssertion(name);
  const isNativeNeeded =
    findParquetProblem(table, alteration, task) !== undefined && draft.steps.every(step => step.statement !== native);
  const conversion = isRetyped ? prepareConversion(name, before, alteration.type) : [];
  return draft.add(change, [...(isNativeNeeded ? [native] : []), ...conversion, statement]);
}

/** The assertion that is needed before a conversion, and the statement that keeps what older rows read. */
function prepareConversion(table: string, { name, type }: Column, to: string): string[] {
  const misfit = printMisfit(name, type, to);
  return [
    ...(misfit === undefined ? [] : [printFitAssertion(table, misfit)]),
    ...(!hasNull(type) && hasNull(to) ? [printFill({ table, column: name }, type)] : []),
  ];
}

/** What servers before version 10 do to a table with Parquet partitions. */
/** A WAL table keeps the name of its designated timestamp. */
function whyTimestampForbids({ name, wal, timestamp = '' }: TableDefinition, alteration: Alteration) {
  const isRejected = wal && alteration.change === 'rename column' && isSameName(alteration.column, timestamp);
  return isRejected
    ? describeUnalterable(name, 'the designated timestamp of a WAL table: needs a new table')
    : undefined;
}

const PARQUET_PROBLEMS: Readonly<Record<string, string>> = {
  type: 'over which a change of a type suspends the table',
  'add column': 'which cannot be read after a column was added',
  'drop column': 'which cannot be read after a column was dropped',
};

/** What a change does to Parquet partitions if the table can have some; undefined if it does not harm them. */
function findParquetProblem({ partitionBy }: TableDefinition, { change }: Alteration, { version }: Task) {
  const isHarmless = partitionBy === 'NONE' || (version !== undefined && isLaterVersion(version, '9.4.4'));
  return isHarmless ? undefined : PARQUET_PROBLEMS[change];
}

function whyParquetForbids(table: TableDefinition, alteration: Alteration, task: Task): string | undefined {
  const problem = findParquetProblem(table, alteration, task);
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

/** The query for the number of values that become NULL, and of all. The server casts a SYMBOL to a DATE in another way. */
function printNullQuestion(table: string, column: string, from: string, to: string): string {
  const value = from === 'SYMBOL' ? `CAST("${column}" AS STRING)` : `"${column}"`;
  return `SELECT count("${column}") - count(CAST(${value} AS ${to})), count("${column}") FROM '${table}'`;
}
