/*! The plan that turns B into A: its statements as a stream, and what it leaves out on standard error. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Exit, type Io } from '@sqlpipe/cli';
import { writeSqlText } from '@sqlpipe/files';
import { connect, fetchRefreshStates, type RefreshStates } from '@sqlpipe/instance';
import { createCommitWriter, encodeRecords } from '@sqlpipe/records';
import { Catalog, describeOmission, type PlanOptions, planChanges, printPlan } from '@sqlpipe/schema';
import type { Side } from './operands.js';

/** Writes the plan; on a terminal, as text. @returns the exit status: whether nothing was left out */
export async function writePlan(
  a: readonly string[],
  b: readonly string[],
  options: PlanOptions & { maxRecord: number },
  io: Io,
): Promise<number> {
  const plan = planChanges(a, b, options);
  for (const omission of plan.omissions) io.warn(describeOmission(omission));
  const catalog = new Catalog(b);
  const statements = printPlan(plan, ({ kind, name }) => {
    const entry = catalog.findObject(name);
    return entry?.kind === kind ? entry.statement : undefined;
  });
  if (io.stdout.isTTY) await writeSqlText(Readable.from(statements), io.stdout);
  else
    await pipeline(
      Readable.from(statements),
      encodeRecords(options.maxRecord),
      createCommitWriter(io.stdout, 'sqldiff'),
    );
  return plan.omissions.length > 0 ? Exit.negative : Exit.ok;
}

/** How the materialized views of a side are, as far as it is an instance that tells. */
export async function findRefreshStates({ target }: Side): Promise<RefreshStates> {
  if (!target) return { neverRefreshed: new Set(), invalidated: new Set(), ahead: new Set() };
  const instance = connect(target);
  try {
    return await fetchRefreshStates(instance);
  } finally {
    await instance.close();
  }
}
