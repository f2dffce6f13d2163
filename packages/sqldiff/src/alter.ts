/*! The plan that turns B into A: writes its statements as a stream, and on standard error what it leaves out. */
import { Exit, type Io } from '@sqlpipe/cli';
import { describeOmission, type PlanOptions, planChanges, printPlan, UnresolvedViewError } from '@sqlpipe/plan';
import { StreamError } from '@sqlpipe/records';
import { writeStatements } from './write-statements.js';

/** Writes the plan that turns B into A. @returns the exit status, which is negative if anything was left out */
export async function writePlan(
  a: readonly string[],
  b: readonly string[],
  options: PlanOptions & { maxRecord: number; label: string },
  io: Io,
): Promise<number> {
  const plan = await planChanges(a, b, options).catch((error: Error) => {
    throw error instanceof UnresolvedViewError ? new StreamError(`${options.label}: ${error.message}`) : error;
  });
  for (const omission of plan.omissions) io.warn(describeOmission(omission));
  for (const note of plan.notes) io.info(note);
  await writeStatements(printPlan(plan, b), options.maxRecord, io);
  return plan.omissions.length > 0 ? Exit.negative : Exit.ok;
}
