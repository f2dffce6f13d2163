/*!
 * Drafts one ALTER of a table. Its rows may forbid it: a new type may suspend the table or lose values, and some changes harm Parquet or
 * detached partitions. The server is asked while the plan is made. Without a server, assertions decide when the plan is applied.
 *
 * Each statement was tried on 9.3.4.
 */
import {
  type Alteration,
  type Column,
  findColumn,
  hasNull,
  isLaterVersion,
  isLossless,
  type PropertyName,
  printAlter,
  printFill,
  type TableDefinition,
} from '@sqlpipe/ddl';
import { isSameName } from '@sqlpipe/sql';
import type { Draft, Refusal } from './draft.js';
import type { PlanContext } from './plan-context.js';
import {
  type Assertion,
  adviseNative,
  assertNoneChanged,
  assertNoPartition,
  assertValuesFit,
  describeMisfits,
  type PartitionState,
  printCountQuestion,
  printPartitionQuestion,
} from './text/assertions.js';
import { printConversionQuestion, printMisfit } from './text/conversions.js';
import { printOnOneLine } from './text/statement-text.js';
import { describeUnalterable } from './unalterable.js';

/** An ALTER of a table, with the properties that it sets. */
interface TableAlteration {
  readonly table: TableDefinition;
  readonly alteration: Alteration;
  readonly properties: readonly PropertyName[];
}

/** Alters a table unless its rows forbid it, with the assertions and statements that have to come before. @returns whether it is altered */
export function alterTable({ table, alteration, properties }: TableAlteration, draft: Draft): boolean {
  const { context } = draft;
  const { name } = table;
  const statement = printAlter({ kind: 'table', name, alteration });
  const change = { identity: { kind: 'table', name } as const, properties, what: printOnOneLine(statement) };
  const before = findColumn(table, 'column' in alteration ? String(alteration.column) : '');
  const isRetyped = alteration.action === 'type' && before !== undefined;
  const refusal =
    whyTimestampForbids(table, alteration) ??
    whyPartitionsForbid(table, alteration, context) ??
    (isRetyped ? whyValuesForbid(name, before, alteration.type, context) : undefined);
  if (refusal !== undefined) {
    draft.omit(change, ...refusal);
    return false;
  }
  const assertions = STATES.filter(state => findPartitionProblem(state, table, alteration, context) !== undefined)
    .map(state => assertNoPartition(name, state))
    .filter(({ statement }) => draft.steps.every(step => step.statement !== statement));
  const conversion = isRetyped ? prepareConversion(name, before, alteration.type, context) : [];
  return draft.add(change, [...assertions, ...conversion, statement]);
}

/**
 * Prepares a conversion: asserts that the values fit, and that none changes if the server has said so; stores the values that rows older
 * than the column read.
 */
function prepareConversion(
  table: string,
  column: Column,
  to: string,
  { answers }: PlanContext,
): (string | Assertion)[] {
  const { name, type } = column;
  const misfits = assertValuesFit(table, column, to);
  const isUnchanged = answers.changesValues({ object: table, column: name }) === false;
  return [
    ...misfits,
    ...(isUnchanged && misfits.length === 0 ? [assertNoneChanged({ table, column: name, from: type, to })] : []),
    ...(!hasNull(type) && hasNull(to) ? [printFill({ table, column: name }, type)] : []),
  ];
}

/** Why the designated timestamp forbids an ALTER: in a WAL table, it cannot be renamed. */
function whyTimestampForbids({ name, wal, timestamp = '' }: TableDefinition, alteration: Alteration) {
  const isRejected = wal && alteration.action === 'rename column' && isSameName(alteration.column, timestamp);
  return isRejected
    ? describeUnalterable(name, 'the designated timestamp of a WAL table: needs a new table')
    : undefined;
}

/** What actions of ALTER do to partitions in a state. Servers before version 10 cannot alter tables with Parquet partitions. */
const PARTITION_PROBLEMS: Readonly<Record<PartitionState, { readonly [action: string]: string }>> = {
  isParquet: {
    type: 'over which a change of a type suspends the table',
    'add column': 'which cannot be read after a column was added',
    'drop column': 'which cannot be read after a column was dropped',
  },
  detached: {
    type: 'which cannot be attached after a change of a type',
    'rename column': 'in which a renamed column would read NULL',
  },
};

const STATES = Object.keys(PARTITION_PROBLEMS) as PartitionState[];

/** Finds how an ALTER harms partitions in a state, if the table can have some; undefined if it does not harm them. */
function findPartitionProblem(
  state: PartitionState,
  { partitionBy }: TableDefinition,
  { action }: Alteration,
  { version }: PlanContext,
): string | undefined {
  const isLater = state === 'isParquet' && version !== undefined && isLaterVersion(version, '9.4.4');
  return partitionBy === 'NONE' || isLater ? undefined : PARTITION_PROBLEMS[state][action];
}

function whyPartitionsForbid(
  table: TableDefinition,
  alteration: Alteration,
  context: PlanContext,
): Refusal | undefined {
  const name = context.renames.nameBeforePlan(table.name);
  for (const state of STATES) {
    const problem = findPartitionProblem(state, table, alteration, context);
    const [count] = (problem !== undefined && context.answers.ask(printPartitionQuestion(name, state))) || [];
    if (!count) continue;
    const isParquet = state === 'isParquet';
    return [
      `${Number(count)} ${count === 1 ? 'partition is' : 'partitions are'} ${isParquet ? 'Parquet' : 'detached'}, ${problem}`,
      `${isParquet ? adviseNative(name, `"${table.timestamp}"`) : 'attach them'} first`,
    ];
  }
  return undefined;
}

/** Asks how many values a conversion changes, and records the answer. @returns why the server would not convert them */
function whyValuesForbid(table: string, { name, type }: Column, to: string, context: PlanContext): Refusal | undefined {
  const path = { object: table, column: name };
  const inB = { table: context.renames.nameBeforePlan(table), column: context.renames.columnBeforePlan(table, name) };
  const misfit = printMisfit(inB.column, type, to);
  if (misfit !== undefined) {
    const [count] = context.answers.ask(printCountQuestion(inB.table, misfit)) ?? [];
    if (count === 0) context.answers.recordLost(path, 0, '; all values fit');
    return count ? [describeMisfits(Number(count))] : undefined;
  }
  if (isLossless(type, to)) return undefined;
  const [changed, nulls, total] = context.answers.ask(printConversionQuestion({ ...inB, from: type, to })) ?? [];
  const toNull = Number(nulls) > 0 ? `, ${nulls} of them to NULL` : '';
  if (total !== undefined)
    context.answers.recordLost(path, Number(changed), `; ${changed} of ${total} values change${toNull}`);
  return undefined;
}
