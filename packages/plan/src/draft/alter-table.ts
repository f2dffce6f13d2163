/*!
 * Drafts one ALTER of a table. Its rows may forbid the ALTER (`row-conditions.ts`). If no server can be asked, assertions of the plan
 * check the rows.
 */
import {
  type Alteration,
  hasNull,
  isLossless,
  type PropertyName,
  printAlter,
  printFill,
  type TableDefinition,
} from '@sqlpipe/ddl';
import type { Conversion } from '@sqlpipe/engine';
import { isSameName } from '@sqlpipe/sql';
import type { Schemas, ServerFacts } from '../context/plan-context.js';
import type { ServerAnswers } from '../context/server-answers.js';
import { pathKey } from '../losses/losses.js';
import type { Obstacle } from '../losses/omission.js';
import { type Assertion, allAppliedAssertion, conversionAssertion } from '../queries/assertions.js';
import { printMisfit } from '../queries/conversions.js';
import {
  findConversion,
  findMisfitConditions,
  findPartitionConditions,
  type RowCondition,
} from '../queries/row-conditions.js';
import { type Draft, toStatementChange } from './draft.js';
import { formatUnalterable } from './omit-remaining.js';

/** Adds the ALTER after the assertions and statements that it needs. @returns whether it was added */
export function alterTable(table: string, alteration: Alteration, properties: readonly PropertyName[], draft: Draft) {
  const { context } = draft;
  const current = draft.engine.definitionOf(table) as TableDefinition;
  const { name } = current;
  const statement = printAlter({ kind: 'table', name, alteration });
  const change = toStatementChange(statement, { kind: 'table', name }, properties);
  const conversion = findConversion(current, alteration);
  // Rows that are older than the column store no value. Such a row shows 0 for a BYTE, but NULL for an INT. So an UPDATE stores 0 first.
  const fill =
    conversion && !hasNull(conversion.from) && hasNull(conversion.to) ? [printFill(conversion, conversion.from)] : [];
  const actions = [...fill.map(() => 'fill'), alteration.action];
  const tableOfB = { ...current, name: context.renames.nameBeforePlan(name) };
  const obstacle =
    findTimestampObstacle(current, alteration) ??
    findRowObstacle(findPartitionConditions(tableOfB, actions, context.version), context.answers) ??
    (conversion && findMisfitObstacle(conversion, context));
  if (obstacle !== undefined) {
    draft.omit(change, ...obstacle);
    return false;
  }
  const assertions = findPartitionConditions(current, actions, context.version)
    .map(({ assertion }) => assertion)
    .filter(({ statement }) => !draft.hasStep(statement));
  const unchanged = conversion ? recordConversion(conversion, draft) : [];
  // The assertions on values do not see rows that the server has not applied yet, but the ALTER converts those rows too.
  const applied = unchanged.length > 0 ? [allAppliedAssertion(name)] : [];
  return draft.add(change, [...assertions, ...applied, ...unchanged, ...fill, statement]);
}

/** Records a conversion. @returns asserts that no value changes: if one may not fit (`printMisfit`), or if the server found no change */
export function recordConversion(conversion: Conversion, { context, conversions }: Draft): Assertion[] {
  const { from, to } = conversion;
  if (printMisfit(conversion) !== undefined) return [conversionAssertion(conversion)];
  if (isLossless(from, to)) return [];
  const inB = withNamesOfB(conversion, context.renames);
  conversions.set(pathKey({ object: inB.table, column: inB.column }), inB);
  return context.answers.askChangedValues(inB)?.changed === 0 ? [conversionAssertion(conversion)] : [];
}

function withNamesOfB({ table, column, ...types }: Conversion, renames: Schemas['renames']): Conversion {
  const path = renames.pathBeforePlan({ object: table, column });
  return { ...types, table: path.object, column: path.column ?? '' };
}

function findTimestampObstacle({ name, wal, timestamp = '' }: TableDefinition, alteration: Alteration) {
  const isRejected = wal && alteration.action === 'rename column' && isSameName(alteration.column, timestamp);
  return isRejected
    ? formatUnalterable(name, { reason: 'the designated timestamp of a WAL table', needsNewTable: true })
    : undefined;
}

/** Forbids a conversion because of values that do not fit. `recordConversion` asks for the values that fit and change. */
export const findMisfitObstacle = (conversion: Conversion, { answers, renames }: Schemas & ServerFacts) =>
  findRowObstacle(findMisfitConditions(withNamesOfB(conversion, renames)), answers);

/** @param conditions have the names of B */
function findRowObstacle(conditions: readonly RowCondition[], answers: ServerAnswers): Obstacle | undefined {
  for (const condition of conditions) {
    const count = answers.askCount(condition.assertion.questions[0]);
    if (count) return condition.formatProblem(count);
  }
  return undefined;
}
