/*! Plans the statements that undo a plan, without asking the server. */
import { isEnterpriseSchema, parseAlters, tryParseDefinition } from '@sqlpipe/ddl';
import { createPredictingEngine, type Engine, whenReady } from '@sqlpipe/engine';
import { IgnoreRules, Schema } from '@sqlpipe/schema';
import { identify, isObjectKind, isPrincipalKind, isSameName, type Kind } from '@sqlpipe/sql';
import { indentLines } from '@sqlpipe/text';
import { findKnownColumns, type Plan } from './assemble-plan.js';
import type { PlanOptions } from './context/plan-context.js';
import { formatLoss, formatOmission, formatRename, type NamedLoss, type Omission } from './losses.js';
import { planChanges } from './plan.js';
import {
  type Assertion,
  allAppliedAssertion,
  emptyAssertion,
  noPartitionAssertion,
  nothingIsLostAssertion,
  printValueCondition,
} from './queries/assertions.js';

/** The options of a plan that its undo needs too. */
export type UndoOptions = Pick<
  PlanOptions,
  'defaults' | 'ignoreOwner' | 'version' | 'isEnterprise' | 'hiddenGrants' | 'allowLoss' | 'ignore'
>;

export interface UndoPlan extends Plan {
  /** What is not undone. The first line of each entry says what, the others say why. */
  readonly notUndone: readonly (readonly [string, ...string[]])[];
}

/**
 * Plans the statements that turn the schema after a plan back into B. The undo drops what the plan created:
 * - a table, a column or a materialized view after assertions that no rows or values are lost;
 * - a plain view or a principal without an assertion, because such an object has no rows;
 * - a live view only if the user allows the loss, because no query shows whether its rows could be computed again.
 * Any other loss needs the user's permission too. The head of the undo lists what is not undone.
 * @param b the statements of the schema before the plan
 * @throws what `planChanges` throws
 */
export async function planUndo(plan: Plan, b: readonly string[], options: UndoOptions = {}): Promise<UndoPlan> {
  const { defaults, ignoreOwner, version, hiddenGrants, allowLoss = [], ignore = new IgnoreRules() } = options;
  const { statements } = plan.schemaAfter;
  const isEnterprise = options.isEnterprise ?? isEnterpriseSchema(statements);
  const unchangedFacts = { defaults, ignoreOwner, version, isEnterprise, hiddenGrants };
  const engineAfterPlan = createPredictingEngine(unchangedFacts);
  engineAfterPlan.load(statements);
  const drops = await whenReady(() => findSafeDrops(plan, new Schema(b), engineAfterPlan));
  // No server is asked about rows, because the plan has still to run and will change them. Assertions check the rows during the undo.
  const undo = await planChanges(b, statements, {
    ...unchangedFacts,
    renamed: reverseRenames(plan),
    allowLoss: [...allowLoss, ...drops.map(formatLoss)],
    skipInvalid: true,
    firstAssertions: drops.flatMap(({ assertions }) => assertions),
  });
  const losses = new Set(plan.statements.flatMap(({ lost }) => lost));
  // The plan may have changed an ignored property together with another one. The undo reverts both, so `planChanges` did not get `ignore`.
  // Only the list of omissions obeys `ignore`. The first property of a change decides, because the others follow from it.
  const isIgnored = ({ identity, properties: [property] }: Omission) =>
    property !== undefined && ignore.ignoresProperty(identity, property);
  const omissions = undo.omissions.filter(omission => !isIgnored(omission));
  const notUndone = [...[...losses].map((text): [string] => [text]), ...omissions.map(formatOmission)].map(
    ([text, ...lines]): [string, ...string[]] => [`not undone: ${text}`, ...indentLines(lines)],
  );
  return { ...undo, omissions, remarks: [...undo.remarks, ...notUndone.flat()], notes: [], notUndone };
}

/** The DROP of something that the plan created. The user need not allow this loss, because assertions show that no rows are lost. */
type SafeDrop = NamedLoss & { readonly assertions: readonly Assertion[] };

/** Queries do not see rows of detached partitions. @param condition which rows count (`printValueCondition`); by default all */
const noRowsAssertions = (table: string, condition?: string): Assertion[] => [
  allAppliedAssertion(table),
  emptyAssertion(table, condition),
  noPartitionAssertion(table, 'detached'),
];

function findSafeDrops({ statements, schemaAfter, renamed }: Plan, schemaOfB: Schema, engine: Engine): SafeDrop[] {
  /** Undefined if no assertion can show that nothing is lost: for a live view, and for a materialized view whose syntax is unknown. */
  const assertionsOf = (kind: Kind, name: string, statement: string): Assertion[] | undefined => {
    if (kind === 'view') return [];
    if (kind === 'table') return noRowsAssertions(name);
    const created = tryParseDefinition(statement);
    const view = engine.find(name);
    if (created?.kind !== 'materialized view' || view?.kind !== created.kind) return undefined;
    // The statement need not name the base. sqlapply knows it from the server.
    return [nothingIsLostAssertion({ ...created, base: view.base }, findKnownColumns(name, engine))];
  };
  return statements.flatMap(({ statement }): SafeDrop[] => {
    const { kind, name } = identify(statement);
    if (isPrincipalKind(kind) && !schemaOfB.findPrincipal(name))
      return [{ lossKind: 'drop-user', object: name, assertions: [] }];
    const isRenamed = [...renamed.values()].some(to => isSameName(to, name));
    if (isObjectKind(kind) && !schemaOfB.findObject(name) && schemaAfter.findObject(name) && !isRenamed) {
      const assertions = assertionsOf(kind, name, statement);
      return assertions ? [{ lossKind: 'drop', object: name, assertions }] : [];
    }
    return parseAlters(statement).flatMap(({ name, alteration }): SafeDrop[] => {
      if (alteration.action !== 'add column') return [];
      const { column } = alteration;
      const assertions = noRowsAssertions(name, printValueCondition(column));
      return [{ lossKind: 'drop', object: name, column: column.name, assertions }];
    });
  });
}

function reverseRenames({ statements, schemaAfter, renamed }: Plan): string[] {
  // If another object has the old name after the plan, the rename cannot be reversed.
  const objects = [...renamed].filter(([from, to]) => schemaAfter.findObject(to) && !schemaAfter.findObject(from));
  const renames = objects.map(([from, to]) => formatRename({ object: to }, from));
  for (const { name, alteration } of statements.flatMap(({ statement }) => parseAlters(statement)))
    if (alteration.action === 'rename column')
      renames.push(formatRename({ object: name, column: alteration.to }, alteration.column));
  return renames;
}
