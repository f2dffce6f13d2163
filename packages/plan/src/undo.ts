/*! Plans the way back from a plan: what it created goes, what it changed is changed back, and what it lost is listed. */
import { parseChange } from '@sqlpipe/ddl';
import { Schema } from '@sqlpipe/schema';
import { identify, isObject, isPrincipal } from '@sqlpipe/sql';
import type { Plan } from './assemble-plan.js';
import { formatLoss, type Loss } from './losses.js';
import { printRename } from './object-path.js';
import { type PlanOptions, planChanges } from './plan.js';
import { describeOmission } from './text/print-plan.js';

/** What the way back depends on. */
export type UndoOptions = Pick<PlanOptions, 'defaults' | 'ignoreOwner' | 'version' | 'enterprise' | 'allowLoss'>;

/** A plan for the way back. */
export interface UndoPlan extends Plan {
  /** What stays as the first plan leaves it, with the reasons. */
  readonly remains: readonly string[];
}

/**
 * Plans the statements that turn the schema after a plan back into B. What the plan created may go again, with the rows that were
 * written into it since; another loss is left out unless it is allowed. The head says what stays as the plan leaves it.
 * @param b the statements of the schema that the plan is for
 */
export async function planUndo(
  plan: Plan,
  b: readonly string[],
  { defaults, ignoreOwner = false, version, enterprise, allowLoss = [] }: UndoOptions = {},
): Promise<UndoPlan> {
  const before = new Schema(b);
  // Without what the server says of B's rows, because the plan changes them: the assertions decide when they are undone.
  const undo = await planChanges(b, plan.result, {
    ...(defaults && { defaults }),
    ignoreOwner,
    version,
    ...(enterprise !== undefined && { enterprise }),
    renamed: findRenames(plan, before),
    allowLoss: [...allowLoss, ...findCreated(plan, before).map(formatLoss)],
    skipInvalid: true,
  });
  const lost = new Set(plan.statements.flatMap(({ lost }) => lost));
  const remains = [...lost, ...undo.omissions.map(describeOmission)].map(text => `not undone: ${text}`);
  return { ...undo, remarks: [...undo.remarks, ...remains], notes: [], remains };
}

/** The objects, principals and columns that a plan creates. */
function findCreated({ statements }: Plan, before: Schema): Loss[] {
  return statements.flatMap(({ statement }): Loss[] => {
    const { kind, name } = identify(statement);
    if (isPrincipal(kind)) return before.findPrincipal(name) ? [] : [{ loss: 'drop-user', object: name }];
    if (isObject(kind)) return before.findObject(name) ? [] : [{ loss: 'drop', object: name }];
    const change = parseChange(statement);
    const alters = change?.verb === 'alter' ? change.alters : [];
    return alters.flatMap(({ name, alteration }): Loss[] =>
      alteration.change === 'add column' ? [{ loss: 'drop', object: name, column: alteration.column.name }] : [],
    );
  });
}

/** The renames that take those of a plan back, as `--renamed` has them. The tables of a rebuild keep their names. */
function findRenames({ statements, result }: Plan, before: Schema): string[] {
  const after = new Schema(result);
  return statements.flatMap(({ statement }): string[] => {
    const change = parseChange(statement);
    if (change?.verb === 'rename') {
      const isLasting = after.findObject(change.to) && !after.findObject(change.name) && !before.findObject(change.to);
      return isLasting ? [printRename({ object: change.to }, change.name)] : [];
    }
    const alters = change?.verb === 'alter' ? change.alters : [];
    return alters.flatMap(({ name, alteration }) =>
      alteration.change === 'rename column'
        ? [printRename({ object: name, column: alteration.to }, alteration.column)]
        : [],
    );
  });
}
