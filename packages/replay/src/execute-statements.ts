/*! A generator, because a stream would read ahead, and send the statements after a rejected one before its reader gets the rejection. */
import { findReferences } from '@sqlpipe/ddl';
import { parsePlanHead } from '@sqlpipe/plan/format';
import { type Entry, identifyEntry } from '@sqlpipe/schema';
import { isObject, isSameName, NameSet } from '@sqlpipe/sql';
import type { Executor } from './executor.js';
import type { ReplayOptions } from './options.js';
import { endsRun, type Outcome, type ReplayInput, type StatementResult } from './outcome.js';

interface RunOptions extends Pick<ReplayOptions, 'keepGoing' | 'dryRun' | 'signal'>, Pick<ReplayInput, 'locations'> {
  /** Aborted when an outcome ends the run. Later statements are `not reached`. */
  ended: AbortController;
  /** How many of the statements may be a plan, from the first one; by default, all. */
  planLength: number | undefined;
}

/**
 * Yields an outcome for each statement, in order. From the head of a plan on, each outcome is yielded before the next statement is sent.
 * @param executors one for each statement that may be in flight; a statement waits for those that `findBlockers` finds
 */
export async function* executeStatements(
  statements: AsyncIterable<string>,
  executors: readonly Executor[],
  { signal, ended, planLength = Number.POSITIVE_INFINITY, locations, ...continuation }: RunOptions,
): AsyncGenerator<Outcome> {
  const inFlight: InFlight[] = [];

  const executeInTurn = async (n: number, entry: Entry, blockers: InFlight[], isInPlan: boolean): Promise<Outcome> => {
    for (const { outcome } of blockers) await outcome;
    const started = performance.now();
    const time = new Date();
    const execute = executors[n % executors.length] as Executor;
    const isOver = ended.signal.aborted || signal.aborted;
    const result: StatementResult = isOver ? { result: 'not reached' } : await execute(entry);
    const { statement, ...identity } = entry;
    const outcome = {
      n,
      statement,
      location: locations[n - 1],
      identity,
      isInPlan,
      ...(result.result !== 'not reached' && { time }),
      ms: Math.round(performance.now() - started),
      ...result,
    };
    if (!isOver && endsRun(outcome, continuation)) ended.abort();
    return outcome;
  };

  let [n, hasHead] = [0, false];
  for await (const statement of statements) {
    n++;
    hasHead ||= parsePlanHead(statement) !== undefined;
    const isInPlan = hasHead && n <= planLength;
    const entry = identifyEntry(statement);
    const blockers = isInPlan ? [...inFlight] : findBlockers(entry, inFlight);
    inFlight.push({ entry, outcome: executeInTurn(n, entry, blockers, isInPlan) });
    // Executors are assigned in turn: the next statement needs that of the first one in flight, which has to end.
    const most = isInPlan ? 0 : executors.length - 1;
    while (inFlight.length > most) yield await (inFlight.shift() as InFlight).outcome;
  }
  for (const { outcome } of inFlight) yield await outcome;
}

interface InFlight {
  entry: Entry;
  outcome: Promise<Outcome>;
}

/** The statements that create an object of the same name, or one that the statement reads. A statement that creates none waits for all. */
function findBlockers({ kind, name, statement }: Entry, inFlight: readonly InFlight[]): InFlight[] {
  if (!inFlight.length || !isObject(kind)) return [...inFlight];
  const isMade = (other: string) => inFlight.some(({ entry }) => isSameName(entry.name, other));
  const needed = new NameSet([name, ...findReferences(statement, isMade)]);
  return inFlight.filter(({ entry }) => !isObject(entry.kind) || needed.has(entry.name));
}
