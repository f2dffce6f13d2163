import { spool } from './spool.js';

/** Statements that can be waited for before they are read. */
export interface DeferredInput extends AsyncIterable<string> {
  /** Resolves when all have come. Throws what their source throws. */
  ready(): Promise<unknown>;
}

/**
 * The statements of a source that is opened when they are waited for or read, and no earlier. To be read once.
 *
 * A program that asks at the terminal waits so for those before it in a pipe: they may be asking too, and a Node that
 * ends sets the terminal back to how it found it, which would show what is typed at another's question.
 */
export function deferInput(open: () => AsyncIterable<string>): DeferredInput {
  let all: ReturnType<typeof spool> | undefined;
  return {
    ready() {
      all ??= spool(open());
      return all;
    },
    async *[Symbol.asyncIterator]() {
      yield* (await all) ?? open();
    },
  };
}
