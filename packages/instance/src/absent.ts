/*! What a server of an older version does not have: no failure, and asked for once. */
import { InstanceError } from './error.js';
import type { Instance } from './instance.js';

/** The messages for a function, a column and a statement that are not there (observed on 8.1.4 to 9.3.4). */
const ABSENT = /^(?:unknown function name: |Invalid column: |expected 'TABLES')/;

const knownAbsent = new WeakMap<Instance, Set<string>>();

/**
 * The answer to a question about what not every version has; undefined where the instance does not have it.
 * @param what a function, a column or a statement, to remember it by
 */
export async function askIfPresent<T>(instance: Instance, what: string, ask: () => Promise<T>): Promise<T | undefined> {
  const absent = knownAbsent.get(instance) ?? new Set();
  if (absent.has(what)) return undefined;
  try {
    return await ask();
  } catch (error) {
    if (!isAbsent(error)) throw error;
    knownAbsent.set(instance, absent.add(what));
    return undefined;
  }
}

/** Whether an error says that the server does not have what it was asked for. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof InstanceError && error.code === 'REFUSED' && ABSENT.test(error.serverMessage ?? '');
