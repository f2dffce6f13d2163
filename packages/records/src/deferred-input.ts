import { spool } from './spool.js';

/** Statements that can be awaited before they are read. */
export interface DeferredInput extends AsyncIterable<string> {
  /** Resolves when all statements have arrived. Rejects with the error of their source. */
  ready(): Promise<unknown>;
}

/**
 * Defers a source of statements: it is opened by `ready()` or by the first read, and can be read once.
 *
 * A program that prompts at the terminal first waits for the programs before it in the pipe. They may prompt too, and a
 * Node process that ends restores the terminal's mode: the answer to another program's prompt would then be echoed.
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
