/*! Finds the views of A that a server would reject over the objects of A and those of B that the plan keeps. */
import { compareDefinitions, compareStatements } from '@sqlpipe/ddl';
import type { Entry } from '@sqlpipe/schema';
import { displayName } from '@sqlpipe/sql';
import { CodedError } from '@sqlpipe/text';
import { ignoresProperty } from '../context/kept-of-b.js';
import type { PlanContext, Schemas } from '../context/plan-context.js';

/** A server would reject views of A, for example because they read something that A lacks. */
export class RejectedViewError extends CodedError {
  override name = 'RejectedViewError';

  constructor(readonly problems: readonly RejectedView[]) {
    const lines = problems.map(({ entry, reason }) => `${displayName(entry)}: ${reason}`);
    super('DAMAGED', 'the wanted schema is not valid', { lines });
  }
}

export interface RejectedView {
  readonly entry: Entry;
  readonly reason: string;
}

/** Checking a view takes milliseconds, so only those are checked that differ from B or read what differs. */
export function findRejectedViews({ a, engineOfB, wantedEngine: engine }: Schemas): RejectedView[] {
  const isDifferent = (name: string): boolean => {
    const [wanted, former] = [engine.definitionOf(name), engineOfB.definitionOf(name)];
    return !wanted || !former || compareDefinitions(wanted, former).differences.length > 0;
  };
  const lacksReference = (name: string): boolean => {
    const object = engine.find(name);
    return object !== undefined && 'references' in object && object.references.some(each => !engine.find(each));
  };
  const { catalogue } = engine;
  const names = catalogue.list().map(({ name }) => name);
  const affected = catalogue.withReaders(names.filter(name => lacksReference(name) || isDifferent(name)));
  return names.flatMap(name => {
    const entry = affected.has(name) ? a.findObject(name) : undefined;
    const reason = entry && engine.findUnresolvedReason(name);
    return entry && reason !== undefined ? [{ entry, reason }] : [];
  });
}

/** Whether a view is rejected in B for the same reason: B has the same view and rejects it, or the view reads from such a view. */
export function isAlsoRejectedInB(
  entry: Entry,
  rejected: readonly RejectedView[],
  context: PlanContext,
  seen = new Set<Entry>(),
): boolean {
  const { a, b, engineOfB } = context;
  seen.add(entry);
  const former = b.findObject(entry.name)?.statement;
  const { differences = undefined } = former === undefined ? {} : compareStatements(entry.statement, former);
  const isSame = differences?.every(({ property }) => ignoresProperty(context, entry, property));
  if (isSame && engineOfB.findUnresolvedReason(entry.name) !== undefined) return true;
  const isRejected = (needed: Entry) => rejected.some(view => view.entry === needed);
  return a
    .prerequisites(entry)
    .some(needed => !seen.has(needed) && isRejected(needed) && isAlsoRejectedInB(needed, rejected, context, seen));
}
