/*! The plan that --alter makes: from the schema of the target to that of the statements. Loaded when it is needed, since it has an engine. */
import { type Omission, planChanges } from '@sqlpipe/plan';
import { describeOmission, plannedObjects, printPlan, requiredPermissions } from '@sqlpipe/plan/text';
import { collectStatements, deduplicate } from '@sqlpipe/schema';
import { identify, identityKey, isObject } from '@sqlpipe/sql';
import type { TargetSchema } from './target-schema.js';

/** The run that --alter plans for a schema. */
export interface AlterRun {
  /** The plan. */
  readonly changes: readonly string[];
  /** The plan, and after it the statements of the schema that it should lead to. */
  readonly statements: readonly string[];
  /** The values of --allow that the changes need. */
  readonly permissions: readonly string[];
  readonly omissions: readonly Omission[];
  readonly warnings: readonly string[];
  /** What is good to know: a name in the options that says nothing. */
  readonly notes: readonly string[];
}

/** How --alter plans. */
export interface AlterOptions {
  readonly allowLoss: readonly string[];
  readonly renamed: readonly string[];
  readonly dryRun: boolean;
}

/** Plans the changes that give a target the schema of the statements. Objects that only the target has are kept. */
export async function planAlter(
  statements: AsyncIterable<string>,
  { statements: b, ...known }: TargetSchema,
  { allowLoss, renamed, dryRun }: AlterOptions,
): Promise<AlterRun> {
  const wanted = deduplicate(await collectStatements(statements));
  const plan = await planChanges(wanted.filter(isOfSchema), b, { ...known, allowLoss, renamed, keepExtra: true });
  const changes = printPlan(plan, b);
  const planned = plan.statements.map(({ statement }) => statement);
  const touched = new Set(plannedObjects(planned).map(({ kind, name }) => identityKey({ kind, name, verb: '' })));
  const created = new Set(planned);
  const reordered = new Set(plan.reordered.map(name => identityKey({ kind: 'table', name, verb: '' })));
  const rest = wanted.filter(statement => {
    const identity = identify(statement);
    if (reordered.has(identityKey(identity))) return false;
    return !created.has(statement) && !(dryRun && isObject(identity.kind) && touched.has(identityKey(identity)));
  });
  const omissions = plan.omissions.filter(omission => !isOfHealth(omission));
  return {
    changes,
    statements: [...changes, ...rest],
    permissions: requiredPermissions(planned),
    omissions,
    notes: plan.notes,
    warnings: [...plan.warnings, ...plan.omissions.filter(isOfHealth).map(describeOmission)],
  };
}

/** Whether an object has the wanted definition, but does not work, and no option would repair it. */
const isOfHealth = ({ properties, losses = [] }: Omission): boolean =>
  losses.length === 0 && properties.some(property => property === 'invalid' || property === 'suspended');

const isOfSchema = (statement: string): boolean => identify(statement).kind !== 'other';
