/*! What a dry run says about the effects of statements on other objects. */
import { type Instance, InstanceError } from '@sqlpipe/instance';
import { ImpactAnalyzer, SchemaState } from '@sqlpipe/schema';
import type { TargetSchema } from './alter.js';
import type { Outcome } from './outcome.js';

/** Predicts the effects of statements on a target that is not changed. */
export interface Predictor {
  /** The effects of the next statement of a run. */
  predict(statement: string): Pick<Outcome, 'consequences' | 'breaks'>;
  /** The display names of the objects that the statements so far leave invalid. */
  broken(): string[];
}

/**
 * Creates the predictor for a target.
 * @param fetchSchema reads the current schema of the target
 * @returns undefined if the target does not show its schema
 */
export async function createPredictor(
  { label }: Instance,
  fetchSchema: () => Promise<TargetSchema>,
  allowLoss: readonly string[],
  warn: (message: string) => void,
): Promise<Predictor | undefined> {
  try {
    const { statements, defaults, ...states } = await fetchSchema();
    const impact = new ImpactAnalyzer(new SchemaState(statements, { defaults }), { ...states, allowLoss });
    return {
      predict(statement) {
        const consequences = impact.apply(statement);
        if (consequences.length === 0) return {};
        return { consequences, breaks: consequences.some(each => impact.isForbiddenLoss(each)) };
      },
      broken: () => impact.broken(),
    };
  } catch (error) {
    if (!(error instanceof InstanceError) || error.serverMessage === undefined) throw error;
    warn(`${label}: the effects on other objects are unknown: ${error.serverMessage}`);
    return undefined;
  }
}
