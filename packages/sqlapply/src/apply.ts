/*!
 * The replay: statements in, outcomes out, in lock step. A generator and not a stream on purpose: a stream would run
 * ahead, and statements behind a refused one would have been sent by the time anyone read the refusal.
 */
import { identify } from '@sqlpipe/sql';
import type { Verdict } from './judge.js';
import { isReject, type Outcome } from './outcome.js';

export interface ApplyOptions {
  /** Carry on after a refusal. After a failure of the instance nothing is carried on. */
  keepGoing: boolean;
  /** Aborted when the user wants to stop: what is in flight is finished, the rest is not reached. */
  interrupted: AbortSignal;
}

/** An outcome per statement, in order. Behind the one that ends the run they are `not reached`. */
export async function* apply(
  statements: AsyncIterable<string>,
  judge: (statement: string) => Promise<Verdict>,
  { keepGoing, interrupted }: ApplyOptions,
): AsyncGenerator<Outcome> {
  let n = 0;
  let ended = false;
  for await (const statement of statements) {
    const started = performance.now();
    const verdict: Verdict = ended || interrupted.aborted ? { result: 'not reached' } : await judge(statement);
    const outcome = {
      n: ++n,
      statement,
      identity: identify(statement),
      ms: Math.round(performance.now() - started),
      ...verdict,
    };
    yield outcome;
    ended ||= isReject(outcome) && (!keepGoing || outcome.failure !== undefined);
  }
}
