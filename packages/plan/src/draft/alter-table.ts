/*!
 * Drafts one ALTER of a table. Its rows may forbid the ALTER: a new type may suspend the table or lose values, and some ALTERs harm
 * Parquet partitions or detached ones. Each was tried on 9.3.4. If no server can be asked, assertions of the plan check the rows.
 */
import {
  type Alteration,
  featuresOf,
  findColumn,
  hasNull,
  isLossless,
  type PropertyName,
  printAlter,
  printFill,
  type TableDefinition,
} from '@sqlpipe/ddl';
import type { Conversion } from '@sqlpipe/engine';
import { isSameName } from '@sqlpipe/sql';
import type { PlanContext } from '../context/plan-context.js';
import {
  type Assertion,
  allAppliedAssertion,
  formatMisfits,
  noneChangedAssertion,
  noPartitionAssertion,
  PARTITION_STATES,
  type PartitionState,
  printPartitionQuestion,
} from '../queries/assertions.js';
import { printChangedQuestion, printMisfit } from '../queries/conversions.js';
import { printOnOneLine } from '../statements/statement-text.js';
import { changeOf, type Draft, type Refusal } from './draft.js';
import { formatUnalterable } from './unalterable.js';

/** Adds the ALTER after the assertions and statements that it needs. @returns whether it was added */
export function alterTable(
  tableName: string,
  alteration: Alteration,
  properties: readonly PropertyName[],
  draft: Draft,
): boolean {
  const { context } = draft;
  const table = draft.engine.definitionOf(tableName) as TableDefinition;
  const { name } = table;
  const statement = printAlter({ kind: 'table', name, alteration });
  const change = changeOf({ kind: 'table', name }, printOnOneLine(statement), properties);
  const conversion = findConversion(table, alteration);
  // Rows that are older than the column store no value. Such a row shows 0 for a BYTE, but NULL for an INT. So an UPDATE stores 0 first.
  const fill =
    conversion && !hasNull(conversion.from) && hasNull(conversion.to) ? [printFill(conversion, conversion.from)] : [];
  const actions = [...fill.map(() => 'fill'), alteration.action];
  const refusal =
    findTimestampRefusal(table, alteration) ??
    findPartitionRefusal(table, actions, context) ??
    (conversion && findMisfitRefusal(conversion, context));
  if (refusal !== undefined) {
    draft.omit(change, ...refusal);
    return false;
  }
  const assertions = STATES.filter(state => findPartitionProblem(state, table, actions, context) !== undefined)
    .map(state => noPartitionAssertion(name, state))
    .filter(({ statement }) => draft.steps.every(step => step.statement !== statement));
  const unchanged = conversion ? conversionAssertions(conversion, context) : [];
  // The assertions on values do not see rows that the server has not applied yet, but the ALTER converts those rows too.
  const applied = unchanged.length > 0 ? [allAppliedAssertion(name)] : [];
  return draft.add(change, [...assertions, ...applied, ...unchanged, ...fill, statement]);
}

function findConversion(table: TableDefinition, alteration: Alteration): Conversion | undefined {
  if (alteration.action !== 'type') return undefined;
  const column = findColumn(table, alteration.column);
  return column && { table: table.name, column: column.name, from: column.type, to: alteration.type };
}

/** Asserts that no value changes: always if a value may not fit (`printMisfit`), otherwise only if the server has found no change. */
export function conversionAssertions(conversion: Conversion, { answers, renames }: PlanContext): Assertion[] {
  const { from, to } = conversion;
  if (printMisfit(conversion) !== undefined) return [noneChangedAssertion(conversion)];
  if (isLossless(from, to)) return [];
  const isKept = answers.countChangedValues(withNamesOfB(conversion, renames)) === 0;
  return isKept ? [noneChangedAssertion(conversion)] : [];
}

function withNamesOfB({ table, column, ...types }: Conversion, renames: PlanContext['renames']): Conversion {
  const path = renames.pathBeforePlan({ object: table, column });
  return { ...types, table: path.object, column: path.column ?? '' };
}

function findTimestampRefusal({ name, wal, timestamp = '' }: TableDefinition, alteration: Alteration) {
  const isRejected = wal && alteration.action === 'rename column' && isSameName(alteration.column, timestamp);
  return isRejected ? formatUnalterable(name, 'the designated timestamp of a WAL table: needs a new table') : undefined;
}

const STATES = Object.keys(PARTITION_STATES) as PartitionState[];

function findPartitionProblem(
  state: PartitionState,
  { partitionBy }: TableDefinition,
  actions: readonly string[],
  { version }: PlanContext,
): string | undefined {
  const isSupported = state === 'isParquet' && version !== undefined && featuresOf(version)('ALTER of Parquet');
  if (partitionBy === 'NONE' || isSupported) return undefined;
  return Object.entries(PARTITION_STATES[state].problems).find(([action]) => actions.includes(action))?.[1];
}

function findPartitionRefusal(
  table: TableDefinition,
  actions: readonly string[],
  context: PlanContext,
): Refusal | undefined {
  const name = context.renames.nameBeforePlan(table.name);
  for (const state of STATES) {
    const problem = findPartitionProblem(state, table, actions, context);
    const count = problem === undefined ? 0 : context.answers.countOrQueue(printPartitionQuestion(name, state));
    if (!count) continue;
    const { adjective, formatAdvice } = PARTITION_STATES[state];
    return [
      `${count} ${count === 1 ? 'partition is' : 'partitions are'} ${adjective}, ${problem}`,
      `${formatAdvice(name, `"${table.timestamp}"`)} first`,
    ];
  }
  return undefined;
}

/** Forbids a conversion because of values that do not fit. `conversionAssertions` counts the values that fit and change. */
export function findMisfitRefusal(conversion: Conversion, { answers, renames }: PlanContext): Refusal | undefined {
  const inB = withNamesOfB(conversion, renames);
  const count = printMisfit(inB) === undefined ? 0 : answers.countOrQueue(printChangedQuestion(inB));
  return count ? [formatMisfits(count, conversion)] : undefined;
}
