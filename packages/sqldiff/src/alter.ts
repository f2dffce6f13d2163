/*! The plan that turns B into A: writes its statements as a stream, and on standard error what it leaves out. */
import { Exit, type Io } from '@sqlpipe/cli';
import {
  describeOmission,
  type PlanOptions,
  planChanges,
  planUndo,
  printPlan,
  UnresolvedViewError,
} from '@sqlpipe/plan';
import { StreamError } from '@sqlpipe/records';
import type { Sides } from './operands.js';
import { type OutputOptions, writeStatements } from './write-statements.js';

/** Writes the plan that turns B into A. @returns the exit status, which is negative if anything was left out */
export async function writePlan(
  a: readonly string[],
  b: readonly string[],
  [{ label: labelA }, { label: labelB }]: Sides,
  options: PlanOptions & OutputOptions & { readonly undo?: string | undefined },
  io: Io,
): Promise<number> {
  const { maxRecord, undo } = options;
  io.info(`plan to change ${labelB}, so that it matches ${labelA}`);
  const plan = await planChanges(a, b, options).catch((error: Error) => {
    throw error instanceof UnresolvedViewError ? new StreamError(`${labelA}: ${error.message}`) : error;
  });
  for (const warning of plan.warnings) io.warn(warning);
  for (const omission of plan.omissions) io.warn(describeOmission(omission));
  for (const note of plan.notes) io.info(note);
  if (undo !== undefined) {
    const wayBack = await planUndo(plan, b, options);
    for (const text of wayBack.remains) io.warn(`${undo}: ${text}`);
    await writeStatements(printPlan(wayBack, plan.result), { output: undo, maxRecord }, io);
  }
  await writeStatements(printPlan(plan, b), options, io);
  return plan.omissions.length > 0 ? Exit.negative : Exit.ok;
}
