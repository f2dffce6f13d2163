/*!
 * Reading back: OK does not mean the same object (the same statement makes a non-WAL table where the target's default
 * says so). What was applied is asked for again, many objects to a request, and compared.
 */
import { definitions, type Instance, InstanceError } from '@sqlpipe/instance';
import { type ExistingObjects, isShowable } from './existing.js';
import type { Outcome } from './outcome.js';

/** Outcomes are held back until this many can be read back at once. */
const AT_ONCE = 100;

/** The same outcomes, those that were applied with `proven`, or turned to `differs` where the target made something else. */
export async function* verified(
  outcomes: AsyncIterable<Outcome>,
  target: Instance,
  existing: ExistingObjects,
): AsyncGenerator<Outcome> {
  let waiting: Outcome[] = [];
  try {
    for await (const outcome of outcomes) {
      waiting.push(outcome);
      if (waiting.length < AT_ONCE) continue;
      yield* await readBack(waiting, target, existing);
      waiting = [];
    }
  } catch (error) {
    yield* await readBack(waiting, target, existing);
    throw error;
  }
  yield* await readBack(waiting, target, existing);
}

async function readBack(outcomes: Outcome[], target: Instance, existing: ExistingObjects): Promise<Outcome[]> {
  const made = outcomes.filter(({ result, identity }) => result === 'applied' && isShowable(identity));
  try {
    const found = await definitions(
      target,
      made.map(({ identity }) => identity),
    );
    for (const [i, outcome] of made.entries()) {
      const verified = await verify(outcome, found[i], existing);
      const isDoubtful = verified.result === 'differs' && isChangedSince(outcome, outcomes);
      Object.assign(outcome, isDoubtful ? { proven: false } : verified);
    }
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error;
    for (const outcome of made) Object.assign(outcome, { proven: false, failure: error });
  }
  return outcomes;
}

/** Whether a later statement may have changed what one made: an ALTER, a DROP. Then what differs proves nothing. */
const isChangedSince = ({ n }: Outcome, outcomes: readonly Outcome[]): boolean =>
  outcomes.some(later => later.n > n && later.identity.kind === 'other' && later.result === 'applied');

async function verify(
  { statement }: Outcome,
  found: string | undefined,
  existing: ExistingObjects,
): Promise<Partial<Outcome>> {
  if (found === undefined)
    return { result: 'differs', error: 'the server reported success, but the object does not exist' };
  const comparison = await existing.compare(statement, found);
  const { differences, notComparable, asText } = comparison;
  if (differences.length === 0) return { proven: notComparable.length === 0, comparison };
  // What only a newer version understands may come back in other words.
  if (asText) return { proven: false, comparison };
  return { result: 'differs', error: 'the server created it with a different definition', comparison };
}
