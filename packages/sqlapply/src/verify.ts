/*!
 * Reading back: OK does not mean the same object (the same statement makes a non-WAL table where the target's default
 * says so). What was applied is asked for again, many objects to a request, and compared.
 */
import { isPrinted, isSame } from '@sqlpipe/catalog';
import { definitions, type Instance, InstanceError } from '@sqlpipe/instance';
import { canShow } from './held.js';
import type { Outcome } from './outcome.js';
import { withoutReplace } from './replace.js';

/** Outcomes are held back until this many can be read back at once. */
const AT_ONCE = 100;

/**
 * The same outcomes, those that were applied with `proven`, or turned to `differs` where the target made something else.
 * A statement written by hand that comes back in other words is no proof either way.
 */
export async function* verified(outcomes: AsyncIterable<Outcome>, target: Instance): AsyncGenerator<Outcome> {
  let waiting: Outcome[] = [];
  try {
    for await (const outcome of outcomes) {
      waiting.push(outcome);
      if (waiting.length < AT_ONCE) continue;
      yield* await readBack(waiting, target);
      waiting = [];
    }
  } catch (error) {
    yield* await readBack(waiting, target);
    throw error;
  }
  yield* await readBack(waiting, target);
}

async function readBack(outcomes: Outcome[], target: Instance): Promise<Outcome[]> {
  const made = outcomes.filter(({ result, identity }) => result === 'applied' && canShow(identity));
  try {
    const found = await definitions(
      target,
      made.map(({ identity }) => identity),
    );
    made.forEach((outcome, i) => Object.assign(outcome, comparison(outcome, found[i])));
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error;
    for (const outcome of made) Object.assign(outcome, { proven: false, failure: error });
  }
  return outcomes;
}

function comparison({ statement }: Outcome, existing: string | undefined): Partial<Outcome> {
  if (existing === undefined) return { result: 'differs', error: 'it was taken, and is not there when read back' };
  const made = withoutReplace(statement);
  if (isSame(made, existing)) return { proven: true };
  if (!isPrinted(made)) return { proven: false };
  return { result: 'differs', error: 'the target made something else of it', existing };
}
