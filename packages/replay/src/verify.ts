/*!
 * Reads created objects back, and compares them with their statements. After the server's OK they may still differ: with another default of
 * the target, a statement may create a table without WAL.
 */
import { type Client, fetchStatements, InstanceError } from '@sqlpipe/instance';
import { IgnoreRules } from '@sqlpipe/schema';
import { givesRight, identify, isAcl, readStatementHead } from '@sqlpipe/sql';
import { type ExistingObjects, isShowable } from './existing-objects.js';
import type { Outcome, ResultOf } from './outcome.js';

/**
 * Number of objects that are read back together. Outcomes wait for them, except those of a plan, which may have to end. Access control does
 * not count, because it is read all at once.
 */
const BATCH_SIZE = 100;

/** Outcomes that were applied get `proven`, or become `differs` if the target's object is different. */
export async function* verifyOutcomes(
  outcomes: AsyncIterable<Outcome>,
  client: Client,
  existing: ExistingObjects,
  ignore: IgnoreRules,
): AsyncGenerator<Outcome> {
  let waiting: Outcome[] = [];
  let count = 0;
  const readWaiting = () => readBack(waiting, client, existing, ignore);
  try {
    for await (const outcome of outcomes) {
      waiting.push(outcome);
      if (!isAcl(outcome.identity.kind)) count++;
      if (count < BATCH_SIZE && !outcome.plan) continue;
      yield* await readWaiting();
      [waiting, count] = [[], 0];
    }
  } catch (error) {
    yield* await readWaiting();
    throw error;
  }
  yield* await readWaiting();
}

async function readBack(
  outcomes: readonly Outcome[],
  client: Client,
  existing: ExistingObjects,
  ignore: IgnoreRules,
): Promise<Outcome[]> {
  const applied = outcomes.filter(outcome => outcome.result === 'applied');
  const lastAlteration = findLastAlteration(outcomes);
  const made = applied.filter(({ identity }) => isShowable(identity));
  const given = applied.filter(({ n, identity }) => isAcl(identity.kind) && n > lastAlteration);
  const verified = new Map<Outcome, Extract<Outcome, Verification>>();
  try {
    const identities = made.map(({ identity }) => identity);
    const found = await fetchStatements(client, identities);
    for (const [i, outcome] of made.entries()) {
      const verification = await verifyObject(outcome.statement, found[i], existing, CREATED_DIFFERENTLY, ignore);
      const isDoubtful = verification.result === 'differs' && outcome.n < lastAlteration;
      verified.set(outcome, isDoubtful ? { ...outcome, proven: false } : { ...outcome, ...verification });
    }
    if (given.length > 0) existing.acl.invalidate();
    for (const outcome of given) verified.set(outcome, { ...outcome, ...(await verifyAcl(outcome, existing, ignore)) });
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error;
    for (const outcome of [...made, ...given])
      verified.set(outcome, { ...(verified.get(outcome) ?? outcome), proven: false, failure: error });
  }
  return outcomes.map(outcome => verified.get(outcome) ?? outcome);
}

type Verification = ResultOf<'applied' | 'differs'>;

const MISSING_MESSAGE = 'the server reported success, but the object does not exist';
const CREATED_DIFFERENTLY = 'the server created it with a different definition';

/** Finds the number of the last statement that may have changed earlier objects, such as ALTER. Earlier objects may rightly differ. */
const findLastAlteration = (outcomes: readonly Outcome[]): number =>
  outcomes.findLast(
    ({ statement, identity, result }) =>
      result === 'applied' && (identity.kind === 'other' || readStatementHead(statement).replaces),
  )?.n ?? 0;

export async function verifyObject(
  statement: string,
  found: string | undefined,
  existing: ExistingObjects,
  message: string,
  ignore = new IgnoreRules(),
): Promise<Verification> {
  if (found === undefined) return { result: 'differs', error: MISSING_MESSAGE };
  const comparison = ignore.withoutIgnored(identify(statement), await existing.compare(statement, found));
  const { differences, notComparable, isTokenComparison } = comparison;
  if (differences.length === 0) return { result: 'applied', proven: notComparable.length === 0, comparison };
  // A newer server may print the same definition in other words.
  if (isTokenComparison) return { result: 'applied', proven: false, comparison };
  return { result: 'differs', error: message, comparison };
}

/** Not every server shows its access control. */
async function verifyAcl(
  { statement, identity }: Outcome,
  existing: ExistingObjects,
  ignore: IgnoreRules,
): Promise<Verification> {
  const found = await existing.acl.readBack({ ...identity, statement });
  if (!found) return { result: 'applied' };
  if (!found.exists)
    return {
      result: 'differs',
      error: givesRight(identity.kind)
        ? 'the server reported success, but does not show what was granted'
        : MISSING_MESSAGE,
    };
  const { exists: _, ...comparison } = ignore.withoutIgnored(identity, found);
  if (comparison.differences.length > 0)
    return { result: 'differs', error: CREATED_DIFFERENTLY, comparison: { ...comparison, isTokenComparison: false } };
  return { result: 'applied', proven: comparison.notComparable.length === 0 };
}
