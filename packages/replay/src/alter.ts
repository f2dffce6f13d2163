/*! The plan that --alter makes: from the schema of the target to that of the statements. */
import type { Defaults } from '@sqlpipe/ddl';
import {
  type ConnectionConfig,
  dump,
  fetchDefaults,
  fetchRefreshStates,
  type Instance,
  type RefreshStates,
} from '@sqlpipe/instance';
import {
  collectStatements,
  deduplicate,
  describeOmission,
  type Omission,
  planChanges,
  plannedObjects,
  printPlan,
  requiredPermissions,
} from '@sqlpipe/schema';
import { identify, identityKey, isObject } from '@sqlpipe/sql';
import { PlanError } from './check-plan.js';

/** The run that --alter plans for a schema. */
export interface AlterRun {
  /** The changes, and after them the statements of the schema that they should lead to. */
  readonly statements: readonly string[];
  /** The values of --allow that the changes need. */
  readonly permissions: readonly string[];
  readonly omissions: readonly Omission[];
}

/** How --alter plans. */
export interface AlterOptions {
  readonly allowLoss: readonly string[];
  readonly renamed: readonly string[];
  readonly dryRun: boolean;
}

/** The schema of the target, and its states that determine the effects of a statement. */
export interface TargetSchema extends RefreshStates {
  /** The statements of its dump. */
  readonly statements: readonly string[];
  readonly defaults: Defaults;
}

/** @throws InstanceError */
export async function fetchTargetSchema(config: ConnectionConfig, target: Instance): Promise<TargetSchema> {
  const statements = await collectStatements(dump(config));
  return { statements, defaults: await fetchDefaults(target), ...(await fetchRefreshStates(target)) };
}

/** Plans the changes that give a target the schema of the statements. Objects that only the target has are kept. */
export async function planAlter(
  statements: AsyncIterable<string>,
  { statements: b, ...known }: TargetSchema,
  { allowLoss, renamed, dryRun }: AlterOptions,
): Promise<AlterRun> {
  const wanted = deduplicate(await collectStatements(statements));
  const plan = planChanges(wanted.filter(isOfSchema), b, { ...known, allowLoss, renamed, keepExtra: true });
  const changes = printPlan(plan, b);
  const planned = plan.statements.map(({ statement }) => statement);
  const touched = new Set(plannedObjects(planned).map(({ kind, name }) => identityKey({ kind, name, verb: '' })));
  const created = new Set(planned);
  const rest = wanted.filter(statement => {
    const identity = identify(statement);
    return !created.has(statement) && !(dryRun && isObject(identity.kind) && touched.has(identityKey(identity)));
  });
  return { statements: [...changes, ...rest], permissions: requiredPermissions(planned), omissions: plan.omissions };
}

const isOfSchema = (statement: string): boolean => identify(statement).kind !== 'other';

/** @throws PlanError if a plan leaves anything out */
export function rejectOmissions(omissions: readonly Omission[]): void {
  if (omissions.length > 0)
    throw new PlanError(`${omissions.map(describeOmission).join('; ')}; --keep-going applies the rest`);
}
