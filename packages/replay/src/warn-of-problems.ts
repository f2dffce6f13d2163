/*! Reports what does not work on the target: skipped objects, and what an incomplete plan has left. */

import { fetchHealth, type Instance, tryQuery } from '@sqlpipe/instance';
import { type Health, type IgnoreRules, problemsOf } from '@sqlpipe/schema';
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
  const health = (await fetchHealthIfShown(target)) ?? {};
  for (const identity of skipped)
    for (const { state, reason } of problemsOf(identity, health))
      if (!ignore.ignoresProperty(identity, state))
        warn(`${displayName(identity)} was skipped, but is ${state} on the target: ${reason}`);
}

/**
 * What is invalid or suspended now and was not before, one line each; nothing if the target does not answer.
 * @param before what the target reported before the first statement
 */
export async function findDamage(target: Instance, before: Health): Promise<string[]> {
  const now = (await fetchHealthIfShown(target)) ?? {};
  return (['suspended', 'invalid'] as const).flatMap(state =>
    [...(now[state] ?? [])]
      .filter(([name]) => !before[state]?.has(name))
      .map(([name, why]) => `${state === 'invalid' ? 'view' : 'table'} '${name}' is ${state}: ${why}`),
  );
}

/** What a target reports; undefined if it does not answer. */
const fetchHealthIfShown = (target: Instance): Promise<Health | undefined> => tryQuery(() => fetchHealth(target));
