/*!
 * Reads created objects back, and compares them with their statements. An object may differ although the server reported success: for
 * example, the target has another default, and the statement has created a table without WAL.
 */
import { type Client, fetchStatements, InstanceError } from '@sqlpipe/instance';
import { IgnoreRules } from '@sqlpipe/schema';
import { identify, isAclKind, isRightKind, readStatementHead } from '@sqlpipe/sql';
import { isReject, type Outcome, type StatementResult } from '../outcome.js';
import { type ExistingObjects, isShowable } from '../target/fetched-objects.js';

/**
 * The number of objects that are read back together. Their outcomes wait until then, or until one is rejected: the user wants to know at
 * once. The outcomes of a plan do not wait, because an object that differs ends the plan. Access control does not count, because it is
 * read all at once.
 */
const BATCH_SIZE = 100;

interface VerifyContext {
  readonly client: Client;
  readonly existing: ExistingObjects;
  readonly ignore: IgnoreRules;
}

/** Adds `isFullyVerified` to each applied outcome, or changes it to `differs` if the object on the target is different. */
export async function* verifyOutcomes(outcomes: AsyncIterable<Outcome>, context: VerifyContext) {
  let waiting: Outcome[] = [];
  let count = 0;
  const readWaiting = () => readBack(waiting, context);
  try {
    for await (const outcome of outcomes) {
      waiting.push(outcome);
      if (!isAclKind(outcome.identity.kind)) count++;
      if (count < BATCH_SIZE && !outcome.planHead && !isReject(outcome)) continue;
      yield* await readWaiting();
      [waiting, count] = [[], 0];
    }
  } catch (error) {
    yield* await readWaiting();
    throw error;
  }
  yield* await readWaiting();
}

async function readBack(outcomes: readonly Outcome[], context: VerifyContext): Promise<Outcome[]> {
  const { client, existing, ignore } = context;
  const applied = outcomes.filter(({ result }) => result === 'applied');
  const mayHaveAltered = ({ statement, identity, result }: Outcome) =>
    (result === 'applied' || result === 'unknown') &&
    (identity.kind === 'other' || readStatementHead(statement).replaces);
  // Objects that were created before a statement such as ALTER may differ.
  const lastAlteration = outcomes.findLast(mayHaveAltered)?.n ?? 0;
  const objectOutcomes = applied.filter(({ identity }) => isShowable(identity));
  const aclOutcomes = applied.filter(({ n, identity }) => isAclKind(identity.kind) && n > lastAlteration);
  const verified = new Map<Outcome, Outcome>();
  try {
    const identities = objectOutcomes.map(({ identity }) => identity);
    const found = await fetchStatements(client, identities);
    for (const [i, outcome] of objectOutcomes.entries()) {
      const verification = await verifyObject(outcome.statement, found[i], existing, CREATED_DIFFERENTLY, ignore);
      const mayBeAltered = verification.result === 'differs' && outcome.n < lastAlteration;
      verified.set(outcome, mayBeAltered ? { ...outcome, isFullyVerified: false } : { ...outcome, ...verification });
    }
    if (aclOutcomes.length > 0) existing.acl.invalidate();
    for (const outcome of aclOutcomes) verified.set(outcome, { ...outcome, ...(await verifyAcl(outcome, context)) });
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error;
    for (const outcome of [...objectOutcomes, ...aclOutcomes])
      if (!verified.has(outcome)) verified.set(outcome, { ...outcome, isFullyVerified: false, failure: error });
  }
  return outcomes.map(outcome => verified.get(outcome) ?? outcome);
}

const MISSING_MESSAGE = 'the server reported success, but the object does not exist';
const CREATED_DIFFERENTLY = 'the server created it with a different definition';

export async function verifyObject(
  statement: string,
  found: string | undefined,
  existing: ExistingObjects,
  message: string,
  ignore = new IgnoreRules(),
): Promise<StatementResult> {
  if (found === undefined) return { result: 'differs', error: MISSING_MESSAGE };
  const comparison = ignore.withoutIgnored(identify(statement), await existing.compareStatements(statement, found));
  const { differences, notComparable, isTokenComparison } = comparison;
  if (differences.length === 0) return { result: 'applied', isFullyVerified: notComparable.length === 0, comparison };
  // A newer server may print the same definition in other words.
  if (isTokenComparison) return { result: 'applied', isFullyVerified: false, comparison };
  return { result: 'differs', error: message, comparison };
}

/** If the server does not show its access control, the outcome stays as it is. */
async function verifyAcl({ statement, identity }: Outcome, context: VerifyContext): Promise<StatementResult> {
  const found = await context.existing.acl.readBack({ ...identity, statement });
  if (!found) return { result: 'applied' };
  const missing = isRightKind(identity.kind)
    ? 'the server reported success, but does not show what was granted'
    : MISSING_MESSAGE;
  if (found === 'missing') return { result: 'differs', error: missing };
  const comparison = context.ignore.withoutIgnored(identity, found);
  if (comparison.differences.length > 0) return { result: 'differs', error: CREATED_DIFFERENTLY, comparison };
  return { result: 'applied', isFullyVerified: comparison.notComparable.length === 0 };
}
