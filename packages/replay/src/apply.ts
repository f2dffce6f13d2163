/*!
 * The replay: statements in, outcomes out, in order. A generator and not a stream on purpose: a stream would run
 * ahead, and statements after a rejected one would have been sent before anyone read the rejection.
 */
import { identify } from '@sqlpipe/sql';
import { findBlockers, type InFlight } from './blockers.js';
import type { StatementResult } from './executor.js';
import { isReject, type Location, type Outcome } from './outcome.js';

/** How a run goes on, and where its statements are. */
export interface RunOptions {
  /** Continue after a rejection. A failure of the instance always ends the run. */
  keepGoing: boolean;
  /** Aborted when the user wants to stop: what is in flight is finished, the rest is not reached. */
  interrupted: AbortSignal;
  /** Where the statements are, in their order, as far as that is known. */
  locations?: readonly (Location | undefined)[];
}

/** Executes one statement and returns its result. */
export type Executor = (statement: string) => Promise<StatementResult>;

/**
 * An outcome per statement, in order. After the one that ends the run they are `not reached`.
 * @param executors one for each statement in flight; a statement waits for earlier ones that it depends on
 */
export async function* applyStatements(
  statements: AsyncIterable<string>,
  executors: readonly Executor[],
  { keepGoing, interrupted, locations = [] }: RunOptions,
): AsyncGenerator<Outcome> {
  const inFlight: InFlight[] = [];
  let ended = false;

  const executeInTurn = async (n: number, statement: string, before: InFlight[]): Promise<Outcome> => {
    for (const { outcome } of before) await outcome;
    const started = performance.now();
    const execute = executors[n % executors.length] as Executor;
    const result: StatementResult = ended || interrupted.aborted ? { result: 'not reached' } : await execute(statement);
    const location = locations[n - 1];
    const outcome = {
      n,
      statement,
      ...(location && { location }),
      identity: identify(statement),
      ms: Math.round(performance.now() - started),
      ...result,
    };
    ended ||= isReject(outcome) && (!keepGoing || outcome.failure !== undefined);
    return outcome;
  };

  let n = 0;
  for await (const statement of statements) {
    const before = findBlockers(statement, inFlight);
    inFlight.push({ identity: identify(statement), outcome: executeInTurn(++n, statement, before) });
    // The next statement uses the executor of the first.
    if (inFlight.length === executors.length) yield await (inFlight.shift() as InFlight).outcome;
  }
  for (const { outcome } of inFlight) yield await outcome;
}
