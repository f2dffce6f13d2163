/*! Makes the plan of --alter. No other run imports this file, because the planner takes long to load. */
import { isColumnOrder } from '@sqlpipe/ddl';
import { planChanges } from '@sqlpipe/plan';
import { formatOmission, type Omission, printPlan } from '@sqlpipe/plan/text';
import { collectStatements, deduplicate } from '@sqlpipe/schema';
import { identify, isObjectKind, isSameName } from '@sqlpipe/sql';
import type { ReplayOptions } from './options.js';
import type { ReplayInput } from './outcome.js';
import type { TargetSchema } from './target/target.js';

/** Objects that only the target has are kept. @returns `statements`: those of the plan, then those of the wanted schema */
export async function planAlter(
  { statements, locations }: ReplayInput,
  { statements: b, ...known }: TargetSchema,
  { allowLoss, renamed, ignore }: ReplayOptions,
) {
  const given = await collectStatements(statements);
  const wanted = deduplicate(given);
  const definitions = wanted.filter(statement => identify(statement).kind !== 'other');
  const plan = await planChanges(definitions, b, { ...known, allowLoss, renamed, ignore, ignoreExtra: true });
  const planStatements = printPlan(plan, b);
  const bareStatements = new Set(plan.statements.map(({ statement }) => statement));
  // If the rename of `deals` to `trades` is left out, `trades` is not created either, because it would prevent a later rename.
  const isLeftOut = (statement: string): boolean => {
    const { kind, name } = identify(statement);
    const isListed = plan.omissions.some(({ identity }) => identity.kind === kind && isSameName(identity.name, name));
    return isObjectKind(kind) && isListed && plan.schemaAfter.findObject(name)?.kind !== kind;
  };
  const locationOf = new Map(given.map((statement, i) => [statement, locations[i]] as const).reverse());
  const others = wanted.filter(statement => !bareStatements.has(statement) && !isLeftOut(statement));
  return {
    planStatements,
    statements: [...planStatements, ...others],
    locations: [...planStatements.map(() => undefined), ...others.map(each => locationOf.get(each))],
    // The order of columns is reported when the statement is compared.
    omissions: plan.omissions.filter(omission => !concernsHealth(omission) && !isColumnOrder(omission.properties)),
    notes: plan.notes,
    warnings: [
      ...plan.warnings,
      ...plan.omissions.filter(concernsHealth).map(omission => formatOmission(omission).join(': ')),
    ],
  };
}

/** Whether an object has the wanted definition, but does not work, and no option would repair it. */
const concernsHealth = ({ properties, losses }: Omission): boolean =>
  losses.length === 0 && properties.some(property => property === 'invalid' || property === 'suspended');
