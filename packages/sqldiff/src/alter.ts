/*! The plan that turns B into A: writes its statements as a stream, and on standard error what it leaves out. */
import { Exit, type Io } from '@sqlpipe/cli';
import { connect, fetchRefreshStates, type RefreshStates } from '@sqlpipe/instance';
import { describeOmission, type PlanOptions, planChanges, printPlan } from '@sqlpipe/schema';
import type { Side } from './operands.js';
import { writeStatements } from './write-statements.js';

/** Writes the plan that turns B into A. @returns the exit status, which is negative if anything was left out */
export async function writePlan(
  a: readonly string[],
  b: readonly string[],
  options: PlanOptions & { maxRecord: number },
  io: Io,
): Promise<number> {
  const plan = planChanges(a, b, options);
  for (const omission of plan.omissions) io.warn(describeOmission(omission));
  await writeStatements(printPlan(plan, b), options.maxRecord, io);
  return plan.omissions.length > 0 ? Exit.negative : Exit.ok;
}

/** The states of the materialized views of a side; none if the side is not an instance. */
export async function findRefreshStates({ target }: Side): Promise<RefreshStates> {
  if (!target) return { neverRefreshed: new Set(), invalidated: new Set(), ahead: new Set() };
  const instance = connect(target);
  try {
    return await fetchRefreshStates(instance);
  } finally {
    await instance.close();
  }
}
