/*! The plan that --alter makes: from the schema of the target to that of the statements. */
import type { Defaults, Right } from '@sqlpipe/ddl';
import {
  type ConnectionConfig,
  dump,
  fetchDefaults,
  fetchRightsOf,
  type Instance,
  InstanceError,
} from '@sqlpipe/instance';
import {
  describeOmission,
  type Omission,
  planChanges,
  plannedObjects,
  printPlan,
  requiredPermissions,
} from '@sqlpipe/plan';
import { collectStatements, deduplicate } from '@sqlpipe/schema';
import { identify, identityKey, isObject } from '@sqlpipe/sql';
import { PlanError } from './check-plan.js';
import { fetchPlanContext, type PlanContext } from './plan-context.js';

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
}

/** How --alter plans. */
export interface AlterOptions {
  readonly allowLoss: readonly string[];
  readonly renamed: readonly string[];
  readonly dryRun: boolean;
}

/** The schema of the target, and what determines the effects of a statement. */
export interface TargetSchema extends PlanContext {
  /** The statements of its dump. */
  readonly statements: readonly string[];
  readonly defaults: Defaults;
  /** The account that executes the statements; undefined if there is none. */
  readonly account?: { readonly name: string; readonly rights: readonly Right[] | undefined } | undefined;
}

/** @throws InstanceError */
export async function fetchTargetSchema(config: ConnectionConfig, target: Instance): Promise<TargetSchema> {
  const statements = await collectStatements(dump(config));
  const name = userOf(config);
  const account = name === undefined ? undefined : { name, rights: await fetchOwnRights(target, name) };
  return { statements, defaults: await fetchDefaults(target), ...(await fetchPlanContext(target)), account };
}

/** What is known of a target that does not show its schema, beside the message of the target. */
export interface HiddenSchema {
  readonly hidden: string;
}

/** As `fetchTargetSchema`; not every account may read the schema. @throws InstanceError if the target gives no answer */
export async function fetchSchemaIfShown(
  config: ConnectionConfig,
  target: Instance,
): Promise<TargetSchema | HiddenSchema> {
  try {
    return await fetchTargetSchema(config, target);
  } catch (error) {
    if (error instanceof InstanceError && error.serverMessage !== undefined) return { hidden: error.serverMessage };
    throw error;
  }
}

/** The user of a login with a password. */
function userOf({ authorization = '' }: ConnectionConfig): string | undefined {
  const [, encoded] = /^Basic (.+)$/.exec(authorization) ?? [];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString().split(':', 1)[0];
}

/** What an account may do; undefined if the target does not show it, as the open source edition does not. */
async function fetchOwnRights(target: Instance, name: string): Promise<Right[] | undefined> {
  try {
    return await fetchRightsOf(target, name);
  } catch (error) {
    if (error instanceof InstanceError && error.serverMessage !== undefined) return undefined;
    throw error;
  }
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
    warnings: [...plan.warnings, ...plan.omissions.filter(isOfHealth).map(describeOmission)],
  };
}

/** Whether an object has the wanted definition, but does not work, and no option would repair it. */
const isOfHealth = ({ properties, losses = [] }: Omission): boolean =>
  losses.length === 0 && properties.some(property => property === 'invalid' || property === 'suspended');

const isOfSchema = (statement: string): boolean => identify(statement).kind !== 'other';

/** @throws PlanError if a plan leaves anything out */
export function rejectOmissions(omissions: readonly Omission[]): void {
  if (omissions.length > 0)
    throw new PlanError(`${omissions.map(describeOmission).join('; ')}; --keep-going applies the rest`);
}
