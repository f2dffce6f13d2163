import { spool } from './spool.js';

/** Statements that can be awaited before they are read. */
export interface DeferredInput extends AsyncIterable<string> {
  /** Resolves when all have arrived. Throws what their source throws. */
  ready(): Promise<unknown>;
}

/**
 * The statements of a source that is opened when they are waited for or read, and no earlier. To be read once.
 *
 * A program that prompts at the terminal first waits for those before it in the pipe: they may prompt too, and a Node
 * process that ends restores the terminal's mode, which would echo what is typed at another prompt.
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
