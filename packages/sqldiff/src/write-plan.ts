import { Exit, formatAnnotation, type Io } from '@sqlpipe/cli';
import { type PlanOptions, planChanges, planUndo, RejectedViewError } from '@sqlpipe/plan';
import { formatOmission, printPlan } from '@sqlpipe/plan/text';
import { displayName } from '@sqlpipe/sql';
import { CodedError, escapeControls, indentLines, type LocatedMessage } from '@sqlpipe/text';
import type { Locations } from './locations.js';
import type { LoadedSides } from './sides.js';
import { type OutputOptions, writeStatements } from './write-statements.js';

/** Warns of what the plan leaves out. @returns the exit status, which is negative if anything is left out */
export async function writePlan(
  [a, b]: LoadedSides,
  options: PlanOptions &
    Required<Pick<PlanOptions, 'ignoreOwner' | 'ignoreExtra' | 'allowLoss' | 'renamed' | 'rebuild' | 'dropOld'>> &
    OutputOptions & { readonly undo?: string | undefined; readonly locations?: Locations | undefined },
  io: Io,
): Promise<number> {
  const { maxRecord, undo, locations } = options;
  io.info(`plan to change ${b.label}, so that it matches ${a.label}`);
  const plan = await planChanges(a.statements, b.statements, options).catch((error: Error) => {
    throw error instanceof RejectedViewError ? toLocatedError(error, a.label, locations) : error;
  });
  for (const warning of plan.warnings) io.warn(warning);
  for (const omission of plan.omissions) {
    const [head, ...lines] = formatOmission(omission);
    const { identity, what, properties } = omission;
    io.warn(head, indentLines(lines));
    if (locations) {
      const message = [head, ...lines].join('\n');
      await io.write(formatAnnotation({ ...locations.find(identity, `${what};`, properties[0]), message }));
    }
  }
  for (const note of plan.notes) io.info(note);
  const outputs: [statements: readonly string[], options: OutputOptions][] = [[printPlan(plan, b.statements), options]];
  if (undo !== undefined) {
    const undoPlan = await planUndo(plan, b.statements, options);
    for (const [text, ...lines] of undoPlan.notUndone) io.warn(`${undo}: ${text}`, lines);
    // The undo is written first, because a reader of the pipe may apply the plan as soon as it is complete.
    outputs.unshift([printPlan(undoPlan, plan.schemaAfter.statements), { output: undo, maxRecord }]);
  }
  await writeStatements(outputs, io);
  return plan.omissions.length > 0 ? Exit.negative : Exit.ok;
}

function toLocatedError(error: RejectedViewError, label: string, locations: Locations | undefined): CodedError {
  const locatedMessages: LocatedMessage[] = error.problems.map(({ entry, reason }) => ({
    ...locations?.find(entry),
    message: `${displayName(entry)}: ${reason}`,
  }));
  return new CodedError('DAMAGED', `${escapeControls(label)}: ${error.message}`, { cause: error, locatedMessages });
}
