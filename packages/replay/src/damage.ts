/*! In which state a plan that was not completed leaves the target. */

import { fetchHealth, type Instance, InstanceError } from '@sqlpipe/instance';
import type { Health } from '@sqlpipe/schema';

/**
 * What is invalid or suspended now and was not before, one line each; nothing if the target does not answer.
 * @param before what the target reported before the first statement
 */
export async function findDamage(target: Instance, before: Health): Promise<string[]> {
  try {
    const { invalid = new Map(), suspended = new Map() } = await fetchHealth(target);
    return [
      ...[...suspended]
        .filter(([name]) => !before.suspended?.has(name))
        .map(([name, reason]) => `table '${name}' is suspended: ${reason}`),
      ...[...invalid]
        .filter(([name]) => !before.invalid?.has(name))
        .map(([name, reason]) => `view '${name}' is invalid: ${reason}`),
    ];
  } catch (error) {
    if (error instanceof InstanceError) return [];
    throw error;
  }
}
