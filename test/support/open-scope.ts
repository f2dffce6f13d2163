/*! A scope for code without an ava `t`: scripts, benchmarks, and what all tests of a file share. */
import type { Scope } from './scope.js';

/** Creates a scope with a method to end it. Clean-up work runs in reverse order. */
export function openScope(): Scope & { end(): Promise<void> } {
  const pending: (() => Promise<void>)[] = [];
  return {
    teardown: work => void pending.push(work),
    async end() {
      for (const work of pending.reverse()) await work();
    },
  };
}
