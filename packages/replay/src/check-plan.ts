import { Readable } from 'node:stream';
import type { Client } from '@sqlpipe/instance';
import { computeFingerprint, formatOmission, type Omission, type PlanHead, parsePlanHead } from '@sqlpipe/plan/format';
import { collectStatements } from '@sqlpipe/schema';
import { identify } from '@sqlpipe/sql';
import { CodedError, indentLines } from '@sqlpipe/text';
import { recordQuery } from './assertions.js';
import type { ReplayOptions } from './options.js';
import { PlanGuard } from './plan-guard.js';
import type { PlannedStatements } from './preflight.js';

const SKIP_CONFLICT = '--if-exists skip cannot be combined with a plan, which relies on what it creates';
const STREAM_CONFLICT = 'a plan must be read completely before anything is sent; remove --stream';

/**
 * A plan must be complete, and made for the state of the target. Records its statements and queries in `planned` as they are read.
 * @returns also a guard for a plan
 */
export async function requireCurrent(
  statements: AsyncIterable<string>,
  planned: PlannedStatements,
  client: Client,
  { ifExists, staleOk, stream, allowPlan }: Pick<ReplayOptions, 'ifExists' | 'staleOk' | 'stream' | 'allowPlan'>,
): Promise<{ statements: AsyncIterable<string>; isPlan: boolean; guard?: PlanGuard }> {
  const iterator = statements[Symbol.asyncIterator]();
  const first = await iterator.next();
  const all = (async function* () {
    if (!first.done) yield first.value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  })();
  const head = first.done ? undefined : parsePlanHead(first.value);
  if (!head) return { statements: all, isPlan: false };
  const conflict = (ifExists === 'skip' && SKIP_CONFLICT) || (stream && !staleOk && STREAM_CONFLICT);
  if (conflict) {
    await iterator.return?.(); // or the program would wait for the end of its input
    throw new CodedError('REJECTED', conflict);
  }
  const recorded = recordPlanned(all, head, planned);
  if (staleOk) return { statements: recorded, isPlan: true };
  const plan = await collectStatements(recorded);
  const { count } = head;
  if (allowPlan && plan.length < count) {
    const numbers = `its first comment says ${count} statements, but it has ${plan.length}`;
    throw new CodedError('DAMAGED', `the plan is incomplete: ${numbers}; make it again with sqldiff --alter`);
  }
  const help = `make it again with sqldiff --alter${allowPlan ? '' : ', or apply it with --stale-ok'}`;
  const guard = await requireState(plan, client, `the plan was made for a different state; ${help}`);
  return { statements: Readable.from(plan), isPlan: true, guard };
}

export function rejectOmissions(omissions: readonly Omission[]): void {
  if (omissions.length === 0) return;
  const lines = omissions.map(formatOmission).flatMap(([what, ...rest]) => [what, ...indentLines(rest)]);
  const number = omissions.length === 1 ? 'a change is' : `${omissions.length} changes are`;
  throw new CodedError('REJECTED', `${number} left out`, { lines: [...lines, 'hint: --keep-going applies the rest'] });
}

/** @param message the error if the target is in another state, after the label of the target */
export async function requireState(plan: readonly string[], client: Client, message: string): Promise<PlanGuard> {
  const guard = await PlanGuard.start(client, plan);
  if (computeFingerprint(plan, guard.statements()) !== parsePlanHead(plan[0] ?? '')?.state)
    throw new CodedError('REJECTED', `${client.label}: ${message}`);
  return guard;
}

/**
 * Records the queries of views in a plan, and the statements that --allow-plan allows: those with the verbs that its head lists. The head
 * also has their number. What follows them is no part of the plan.
 */
async function* recordPlanned(
  statements: AsyncIterable<string>,
  head: PlanHead,
  { statements: planned, queries }: PlannedStatements,
): AsyncGenerator<string> {
  let n = 0;
  for await (const statement of statements) {
    const { kind, verb } = identify(statement);
    if (++n <= head.count && kind === 'other' && head.verbs.includes(verb)) planned.add(statement);
    if (head.count > 0) recordQuery(statement, queries);
    yield statement;
  }
}
