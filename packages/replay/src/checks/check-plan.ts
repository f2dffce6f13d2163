import { Readable } from 'node:stream';
import type { Client } from '@sqlpipe/instance';
import { computeFingerprint, formatOmission, type Omission, type PlanHead, parsePlanHead } from '@sqlpipe/plan/text';
import { collectStatements } from '@sqlpipe/schema';
import { identify } from '@sqlpipe/sql';
import { CodedError, indentLines } from '@sqlpipe/text';
import type { ReplayOptions } from '../options.js';
import { formatStatementLabel, type ReplayInput } from '../outcome.js';
import { PlanGuard } from './plan-guard.js';
import { type PlanPermissions, recordQuery } from './preflight.js';

/** Finds an option that would skip statements of a plan, send them before all are known, or send them after another plan. */
const findOptionProblem = ({ alter, ifExists, ignore, staleOk, stream }: ReplayOptions) =>
  (ifExists === 'skip' && '--if-exists skip cannot be combined with a plan, which relies on what it creates') ||
  (ignore.hasRules &&
    '--ignore cannot be combined with a plan, whose statements rely on each other; make the plan with --ignore') ||
  (alter && '--alter cannot be combined with a plan; it makes one of a schema') ||
  (stream && !staleOk && 'a plan must be read completely before anything is sent; remove --stream');

/**
 * Checks a plan in the input. The input must begin with the plan and have no other plan. The plan must be complete, and the target must be
 * in the state for which it was made. Reading the returned statements adds those of the plan, and their queries, to `permitted`.
 * @returns the statements of the input; for a plan, also its head and a guard
 */
export async function checkPlan(
  { statements, locations }: ReplayInput,
  permitted: PlanPermissions,
  client: Client,
  options: ReplayOptions,
): Promise<{ statements: AsyncIterable<string>; planHead?: PlanHead; guard?: PlanGuard }> {
  const iterator = statements[Symbol.asyncIterator]();
  const first = await iterator.next();
  const all = (async function* () {
    if (!first.done) yield first.value;
    let n = 1;
    for await (const statement of { [Symbol.asyncIterator]: () => iterator }) {
      n++;
      if (parsePlanHead(statement)) {
        const label = formatStatementLabel({ n, statement, identity: identify(statement), location: locations[n - 1] });
        throw new CodedError('REJECTED', `${label}: begins a plan, which must be applied alone`);
      }
      yield statement;
    }
  })();
  const head = first.done ? undefined : parsePlanHead(first.value);
  if (!head) return { statements: all };
  const problem = findOptionProblem(options);
  if (problem) {
    await iterator.return?.(); // or the program would wait for the end of its input
    throw new CodedError('REJECTED', problem);
  }
  const { staleOk, allowPlan } = options;
  const recorded = recordPlanned(all, head, permitted);
  if (staleOk) return { statements: recorded, planHead: head };
  const inputStatements = await collectStatements(recorded);
  const help = `make it again with sqldiff --alter${allowPlan ? '' : ', or apply it with --stale-ok'}`;
  const guard = await requireState(inputStatements, client, `the plan was made for a different state; ${help}`);
  return { statements: Readable.from(inputStatements), planHead: head, guard };
}

export function rejectOmissions(omissions: readonly Omission[]): void {
  if (omissions.length === 0) return;
  const lines = omissions.map(formatOmission).flatMap(([what, ...rest]) => [what, ...indentLines(rest)]);
  const number = omissions.length === 1 ? 'a change is' : `${omissions.length} changes are`;
  throw new CodedError('REJECTED', `${number} left out`, { lines: [...lines, 'hint: --keep-going applies the rest'] });
}

/** Requires the state for which the plan that begins the input was made. @param message the error otherwise, without the label */
export async function requireState(inputStatements: readonly string[], client: Client, message: string) {
  const guard = new PlanGuard(client, inputStatements);
  await guard.readState();
  const { state, count } = parsePlanHead(inputStatements[0] ?? '') ?? {};
  // Statements after the plan do not belong to the state for which it was made.
  if (computeFingerprint(inputStatements.slice(0, count), guard.knownStatements()) !== state)
    throw new CodedError('REJECTED', `${client.label}: ${message}`);
  return guard;
}

/**
 * Records the queries of views in a plan, and the statements that --allow-plan allows: those with the verbs that the head lists. Statements
 * beyond the `count` of the head do not belong to the plan. They are not allowed, even if the plan has the same text.
 * @throws CodedError at the end if statements are missing, whatever allows those that are there
 */
async function* recordPlanned(
  statements: AsyncIterable<string>,
  { count, verbs }: PlanHead,
  { statements: permitted, queries }: PlanPermissions,
): AsyncGenerator<string> {
  let n = 0;
  for await (const statement of statements) {
    const { kind, verb } = identify(statement);
    n++;
    if (count !== undefined && n > count) permitted.delete(statement);
    else if (kind === 'other' && verbs.includes(verb)) permitted.add(statement);
    recordQuery(statement, queries);
    yield statement;
  }
  if (count === undefined || n >= count) return;
  const numbers = `its first comment says ${count} statements, but it has ${n}`;
  throw new CodedError('DAMAGED', `the plan is incomplete: ${numbers}; make it again with sqldiff --alter`);
}
