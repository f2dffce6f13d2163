/*! The lifetime of what a test, a script or a benchmark has started. */

/** Registers clean-up work. An ava `t` is a scope: it ends with its test. */
export interface Scope {
  teardown(work: () => Promise<void>): void;
}

/** Creates a scope with a method to end it, for code without an ava `t`. Clean-up work runs in reverse order. */
export function openScope(): Scope & { end(): Promise<void> } {
  const pending: (() => Promise<void>)[] = [];
  return {
    teardown: work => void pending.push(work),
    async end() {
      for (const work of pending.reverse()) await work();
    },
  };
}
