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

/** A plan must be complete, and made for the state of the target. @returns also a guard for a plan */
export async function requireCurrent(
  statements: AsyncIterable<string>,
  client: Client,
  { staleOk, stream, allowPlan }: Pick<ReplayOptions, 'staleOk' | 'stream' | 'allowPlan'>,
): Promise<{ statements: AsyncIterable<string>; isPlan: boolean; guard?: PlanGuard }> {
  const iterator = statements[Symbol.asyncIterator]();
  const first = await iterator.next();
  const rest = (async function* () {
    if (!first.done) yield first.value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  })();
  const head = first.done ? undefined : parsePlanHead(first.value);
  const isPlan = head !== undefined;
  if (!isPlan || staleOk) return { statements: rest, isPlan };
  if (stream) {
    await iterator.return?.(); // or the program would wait for the end of its input
    throw new CodedError('REJECTED', 'a plan must be read completely before anything is sent; remove --stream');
  }
  const all = await collectStatements(rest);
  const { count } = head;
  if (allowPlan && all.length < count) {
    const numbers = `its first comment says ${count} statements, but it has ${all.length}`;
    throw new CodedError('DAMAGED', `the plan is incomplete: ${numbers}; make it again with sqldiff --alter`);
  }
  const help = `make it again with sqldiff --alter${allowPlan ? '' : ', or apply it with --stale-ok'}`;
  const guard = await requireState(all, client, `the plan was made for a different state; ${help}`);
  return { statements: Readable.from(all), isPlan, guard };
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
 * Records the queries of views in a plan, and the statements that --allow-plan allows: those with the verbs that the head
 * of the plan lists. The head also has their number. What follows them is no part of the plan.
 */
export async function* recordPlanned(
  statements: AsyncIterable<string>,
  { statements: planned, queries }: PlannedStatements,
): AsyncGenerator<string> {
  let head: PlanHead | undefined;
  let n = 0;
  for await (const statement of statements) {
    if (n++ === 0) head = parsePlanHead(statement);
    const { kind, verb } = identify(statement);
    if (head && n <= head.count && kind === 'other' && head.verbs.includes(verb)) planned.add(statement);
    if (head && head.count > 0) recordQuery(statement, queries);
    yield statement;
  }
}
