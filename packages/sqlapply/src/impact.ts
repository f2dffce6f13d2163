/*! What statements would do on a target beside what they say, for a dry run. */
import type { Io } from '@sqlpipe/cli';
import { type Instance, InstanceError } from '@sqlpipe/instance';
import { ImpactAnalyzer, SchemaState } from '@sqlpipe/schema';
import type { TargetSchema } from './plan.js';

/**
 * Analyzes statements for a target.
 * @param fetchSchema reads what the target has now
 * @returns undefined where the target does not show that
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
