/*!
 * The replay: it turns statements into outcomes, in order. It is a generator, because a stream would read ahead: it
 * would send the statements after a rejected one before its reader gets the rejection.
 */
import { identify } from '@sqlpipe/sql';
import { findBlockers, type InFlight } from './blockers.js';
import type { StatementResult } from './executor.js';
import type { Location } from './input.js';
import { isReject, type Outcome } from './outcome.js';

export interface RunOptions {
  /** Continue after a rejection. A failure of the instance always ends the run. */
  keepGoing: boolean;
  /** Aborted when the user wants to stop: statements in flight are finished, later ones are `not reached`. */
  interrupted: AbortSignal;
  /** The location of each statement in the order of the statements; undefined if it is not known. */
  locations?: readonly (Location | undefined)[];
}

/** Executes one statement and returns its result. */
export type Executor = (statement: string) => Promise<StatementResult>;

/**
 * Yields an outcome for each statement, in order. Statements after the one that ends the run are `not reached`.
 * @param executors one for each statement that may be in flight; a statement waits for those that `findBlockers` finds
 */
export async function* applyStatements(
  statements: AsyncIterable<string>,
  executors: readonly Executor[],
  { keepGoing, interrupted, locations = [] }: RunOptions,
): AsyncGenerator<Outcome> {
  const inFlight: InFlight[] = [];
  let ended = false;

  const executeInTurn = async (n: number, statement: string, blockers: InFlight[]): Promise<Outcome> => {
    for (const { outcome } of blockers) await outcome;
    const started = process.uptime();
    const execute = executors[n % executors.length] as Executor;
    const result: StatementResult = ended || interrupted.aborted ? { result: 'not reached' } : await execute(statement);
    const location = locations[n - 1];
    const outcome = {
      n,
      statement,
      ...(location && { location }),
      identity: identify(statement),
      ms: Math.round(1000 * (process.uptime() - started)),
      ...result,
    };
    ended ||= isReject(outcome) && (!keepGoing || outcome.failure !== undefined);
    return outcome;
  };

  let n = 0;
  for await (const statement of statements) {
    const blockers = findBlockers(statement, inFlight);
    inFlight.push({ identity: identify(statement), outcome: executeInTurn(++n, statement, blockers) });
    // Executors are assigned in turn: the next statement needs that of the first one in flight, which has to end.
    if (inFlight.length === executors.length) yield await (inFlight.shift() as InFlight).outcome;
  }
  for (const { outcome } of inFlight) yield await outcome;
}
