import { setTimeout as pause } from 'node:timers/promises';

/** How long to ask. */
export interface PollLimits {
  /** Milliseconds in total; 0 for no limit. */
  readonly timeout: number;
  readonly interrupted?: AbortSignal | undefined;
}

/** Milliseconds between two questions: the first pause and the longest one. */
const [SHORTEST, LONGEST] = [5, 500];

/** Asks with growing pauses until there is an answer. The result is undefined if the time is up, or the user interrupts the program. */
export async function poll<T>(
  { timeout, interrupted }: PollLimits,
  ask: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const end = timeout > 0 ? performance.now() + timeout : Number.POSITIVE_INFINITY;
  for (let delay = SHORTEST; ; delay = Math.min(2 * delay, LONGEST)) {
    const answer = await ask();
    if (answer !== undefined || performance.now() > end || interrupted?.aborted) return answer;
    await pause(delay, undefined, { signal: interrupted }).catch(() => {}); // an interruption ends it
  }
}
