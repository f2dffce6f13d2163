/*! Objects that are skipped because they are the same on the target, where they do not work. */
import { fetchHealth, type Instance, InstanceError } from '@sqlpipe/instance';
import { type IgnoreRules, problemsOf } from '@sqlpipe/schema';
import { displayName, type Identity, isObject } from '@sqlpipe/sql';
import type { Outcome } from './outcome.js';

/** Passes outcomes on. After the last one it warns of the skipped objects that the target reports as invalid or suspended. */
export async function* warnOfProblems(
  outcomes: AsyncIterable<Outcome>,
  target: Instance,
  ignore: IgnoreRules,
  warn: (message: string) => void,
): AsyncGenerator<Outcome> {
  const skipped: Identity[] = [];
  for await (const outcome of outcomes) {
    const { result, identity, statement } = outcome;
    if (result === 'skipped' && isObject(identity.kind) && !ignore.ignoresObject({ ...identity, statement }))
      skipped.push(identity);
    yield outcome;
  }
  if (skipped.length === 0) return;
  const health = await fetchHealth(target).catch(error => {
    if (error instanceof InstanceError) return {};
    throw error;
  });
  for (const identity of skipped)
    for (const { state, reason } of problemsOf(identity, health))
      if (!ignore.ignoresProperty(identity, state))
        warn(`${displayName(identity)} was skipped, but is ${state} on the target: ${reason}`);
}
