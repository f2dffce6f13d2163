/*! The side effects of statements on a target, for a dry run. */
import type { Io } from '@sqlpipe/cli';
import { type Instance, InstanceError } from '@sqlpipe/instance';
import { ImpactAnalyzer, SchemaState } from '@sqlpipe/schema';
import type { TargetSchema } from './plan.js';

/**
 * Creates the analyzer of side effects for a target.
 * @param fetchSchema reads the current schema of the target
 * @returns undefined if the target does not show its schema
 */
export async function createImpactAnalyzer(
  { label }: Instance,
  fetchSchema: () => Promise<TargetSchema>,
  allowLoss: readonly string[],
  io: Io,
): Promise<ImpactAnalyzer | undefined> {
  try {
    const { statements, defaults, ...states } = await fetchSchema();
    return new ImpactAnalyzer(new SchemaState(statements, { defaults }), { ...states, allowLoss });
  } catch (error) {
    if (!(error instanceof InstanceError) || error.serverMessage === undefined) throw error;
    io.warn(`${label}: the effects on other objects are unknown: ${error.serverMessage}`);
    return undefined;
  }
}
