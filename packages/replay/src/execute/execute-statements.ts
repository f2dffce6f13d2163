/*! Executes statements in a generator. A Node stream would read ahead, and send more statements before its reader gets a rejection. */
import { findReferences } from '@sqlpipe/ddl';
import type { PlanHead } from '@sqlpipe/plan/text';
import { type Entry, toEntry } from '@sqlpipe/schema';
import { isObjectKind, isSameName, NameSet, readStatementHead } from '@sqlpipe/sql';
import type { ReplayOptions } from '../options.js';
import { endsRun, type Outcome, type ReplayInput, type StatementResult } from '../outcome.js';
import type { Executor } from './executor.js';

interface RunOptions extends Pick<ReplayOptions, 'keepGoing' | 'dryRun' | 'signal'>, Pick<ReplayInput, 'locations'> {
  /** Aborted when an outcome ends the run. Later statements are `not reached`. */
  endOfRun: AbortController;
  /** The head of the plan that the statements begin with. Without a `count`, all of them belong to the plan. */
  planHead: PlanHead | undefined;
}

/**
 * Yields an outcome for each statement, in order. Statements that only create an object may be in flight together. Any other statement, and
 * each statement of a plan, is sent alone: the outcomes of all earlier statements were yielded, and no later statement is sent yet.
 * @param executors one for each statement that may be in flight
 */
export async function* executeStatements(
  statements: AsyncIterable<string>,
  executors: readonly Executor[],
  { signal, endOfRun, planHead, locations, ...continuation }: RunOptions,
): AsyncGenerator<Outcome> {
  const inFlight: InFlight[] = [];

  const executeInTurn = async (n: number, entry: Entry, isPlanned: boolean): Promise<Outcome> => {
    for (const { outcome } of findBlockers(entry, inFlight)) await outcome;
    const started = performance.now();
    const time = new Date();
    const execute = executors[n % executors.length] as Executor;
    const isOver = endOfRun.signal.aborted || signal.aborted;
    const result: StatementResult = isOver ? { result: 'not reached' } : await execute(entry, isPlanned, n - 1);
    const { statement, ...identity } = entry;
    const outcome = {
      n,
      statement,
      location: locations[n - 1],
      identity,
      planHead: isPlanned ? planHead : undefined,
      ...(result.result !== 'not reached' && { time }),
      ms: Math.round(performance.now() - started),
      ...result,
    };
    if (!isOver && endsRun(outcome, continuation)) endOfRun.abort();
    return outcome;
  };

  const takeOldest = () => (inFlight.shift() as InFlight).outcome;

  let n = 0;
  try {
    for await (const statement of statements) {
      n++;
      const isPlanned = planHead !== undefined && n <= (planHead.count ?? Number.POSITIVE_INFINITY);
      const entry = toEntry(statement);
      // A statement that changes existing objects must not run while the reader of the outcomes reads created objects back.
      const isAlone = isPlanned || !isObjectKind(entry.kind) || readStatementHead(statement).replaces;
      while (isAlone && inFlight.length > 0) yield takeOldest();
      const outcome = executeInTurn(n, entry, isPlanned);
      outcome.catch(() => {}); // it is thrown when it is yielded; meanwhile, the input may be slow
      inFlight.push({ entry, outcome });
      // The executors take turns. So the next statement needs the executor of the oldest one in flight, which has to end first.
      while (isAlone ? inFlight.length > 0 : inFlight.length >= executors.length) yield takeOldest();
    }
  } catch (error) {
    // The input is damaged here, but the statements before the damage were sent and have outcomes.
    while (inFlight.length > 0) yield takeOldest();
    throw error;
  }
  while (inFlight.length > 0) yield takeOldest();
}

interface InFlight {
  entry: Entry;
  outcome: Promise<Outcome>;
}

/** Finds the statements in flight that have to end first: they create an object of the same name, or one that the statement reads. */
function findBlockers({ name, statement }: Entry, inFlight: readonly InFlight[]): InFlight[] {
  if (!inFlight.length) return [];
  const mayBeView = (other: string) => inFlight.some(({ entry }) => isSameName(entry.name, other));
  const needed = new NameSet([name, ...findReferences(statement, mayBeView)]);
  return inFlight.filter(({ entry }) => needed.has(entry.name));
}
