/*! Features that older servers lack. That is not an error, and is found out only once per instance. */

import type { Instance } from './instance.js';
import { InstanceError } from './instance-error.js';

/** The messages for an unknown function, column and statement (observed on 8.1.4 to 9.3.4). */
const UNSUPPORTED = /^(?:unknown function name: |Invalid column: |expected 'TABLES')/;

const knownUnsupported = new WeakMap<Instance, Set<string>>();

/**
 * The result of a query that not every version supports; undefined if this instance does not.
 * @param what a function, a column or a statement, which identifies the query
 */
export async function queryIfSupported<T>(
  instance: Instance,
  what: string,
  query: () => Promise<T>,
): Promise<T | undefined> {
  const unsupported = knownUnsupported.get(instance) ?? new Set();
  if (unsupported.has(what)) return undefined;
  try {
    return await query();
  } catch (error) {
    if (!isUnsupported(error)) throw error;
    knownUnsupported.set(instance, unsupported.add(what));
    return undefined;
  }
}

/** Whether an error means that the server does not support the query. */
export const isUnsupported = (error: unknown): boolean =>
  error instanceof InstanceError && error.code === 'REJECTED' && error.says(UNSUPPORTED);
