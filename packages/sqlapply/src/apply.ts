/*!
 * The replay: statements in, outcomes out, in order. A generator and not a stream on purpose: a stream would run
 * ahead, and statements behind a refused one would have been sent by the time anyone read the refusal.
 */
import { identify } from '@sqlpipe/sql';
import type { Location } from './input.js';
import { mustWait, type UnderWay } from './jobs.js';
import type { Verdict } from './judge.js';
import { isReject, type Outcome } from './outcome.js';

export interface ApplyOptions {
  /** Carry on after a refusal. After a failure of the instance nothing is carried on. */
  keepGoing: boolean;
  /** Aborted when the user wants to stop: what is in flight is finished, the rest is not reached. */
  interrupted: AbortSignal;
  /** Where the statements are, in their order, as far as that is known. */
  locations?: readonly (Location | undefined)[];
}

/** Says what becomes of a statement, one at a time. */
export type Judge = (statement: string) => Promise<Verdict>;

/**
 * An outcome per statement, in order. Behind the one that ends the run they are `not reached`.
 * @param judges as many statements are under way at once as there are judges; each waits for those before it that it needs
 */
export async function* apply(
  statements: AsyncIterable<string>,
  judges: readonly Judge[],
  { keepGoing, interrupted, locations = [] }: ApplyOptions,
): AsyncGenerator<Outcome> {
  const underWay: UnderWay[] = [];
  let ended = false;

  const outcomeOf = async (n: number, statement: string, before: UnderWay[]): Promise<Outcome> => {
    for (const { outcome } of before) await outcome;
    const started = process.uptime();
    const judge = judges[n % judges.length] as Judge;
    const verdict: Verdict = ended || interrupted.aborted ? { result: 'not reached' } : await judge(statement);
    const location = locations[n - 1];
    const outcome = {
      n,
      statement,
      ...(location && { location }),
      identity: identify(statement),
      ms: Math.round(1000 * (process.uptime() - started)),
      ...verdict,
    };
    ended ||= isReject(outcome) && (!keepGoing || outcome.failure !== undefined);
    return outcome;
  };

  let n = 0;
  for await (const statement of statements) {
    const before = mustWait(statement, underWay);
    underWay.push({ identity: identify(statement), outcome: outcomeOf(++n, statement, before) });
    // The first one's judge is the next one's.
    if (underWay.length === judges.length) yield await (underWay.shift() as UnderWay).outcome;
  }
  for (const { outcome } of underWay) yield await outcome;
}
