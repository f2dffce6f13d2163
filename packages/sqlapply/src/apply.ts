/*!
 * The replay: statements in, outcomes out, in order. A generator and not a stream on purpose: a stream would run
 * ahead, and statements behind a refused one would have been sent by the time anyone read the refusal.
 */
import { identify } from '@sqlpipe/sql';
import { findBlockers, type InFlight } from './blockers.js';
import type { StatementResult } from './executor.js';
import type { Location } from './input.js';
import { isReject, type Outcome } from './outcome.js';

export interface RunOptions {
  /** Carry on after a refusal. After a failure of the instance nothing is carried on. */
  keepGoing: boolean;
  /** Aborted when the user wants to stop: what is in flight is finished, the rest is not reached. */
  interrupted: AbortSignal;
  /** Where the statements are, in their order, as far as that is known. */
  locations?: readonly (Location | undefined)[];
}

/** Says what becomes of a statement, one at a time. */
export type Executor = (statement: string) => Promise<StatementResult>;

/**
 * An outcome per statement, in order. Behind the one that ends the run they are `not reached`.
 * @param executors as many statements are under way at once as there are judges; each waits for those before it that it needs
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
    const before = findBlockers(statement, inFlight);
    inFlight.push({ identity: identify(statement), outcome: executeInTurn(++n, statement, before) });
    // The first one's judge is the next one's.
    if (inFlight.length === executors.length) yield await (inFlight.shift() as InFlight).outcome;
  }
  for (const { outcome } of inFlight) yield await outcome;
}
