/*! The plans of `sqldiff --alter` are valid only for one state of the target. */
import { fetchDefinitions, type Instance } from '@sqlpipe/instance';
import { fingerprint, plannedObjects, plannedState } from '@sqlpipe/plan';
import { collectStatements } from '@sqlpipe/schema';

/** A plan that cannot be executed as it is. */
export class PlanError extends Error {
  override name = 'PlanError';
  readonly code = 'REJECTED';
}

/**
 * Passes statements on. If they are a plan, the target must be in the state that the plan was made for.
 * @throws PlanError
 */
export async function checkPlan(
  statements: AsyncIterable<string>,
  target: Instance,
  { staleOk, stream }: { staleOk: boolean; stream: boolean },
): Promise<AsyncIterable<string>> {
  const iterator = statements[Symbol.asyncIterator]();
  const first = await iterator.next();
  const rest = (async function* () {
    if (!first.done) yield first.value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  })();
  const state = first.done ? undefined : plannedState(first.value);
  if (state === undefined || staleOk) return rest;
  if (stream) throw new PlanError('a plan must be read completely before anything is sent; remove --stream');
  const all = await collectStatements(rest);
  const objects = plannedObjects(all);
  if (fingerprint(objects, await fetchDefinitions(target, objects)) !== state)
    throw new PlanError(
      `${target.label}: the plan was made for a different state; make it again with sqldiff --alter, or apply it with --stale-ok`,
    );
  return (async function* () {
    yield* all;
  })();
}
