/*! A scope for whoever has no ava `t` at hand: scripts, benchmarks, what a whole file of tests shares. */
import type { Scope } from './scope.js';

/** A scope that lives until it is ended; what was started last is cleaned up first. */
export function openScope(): Scope & { end(): Promise<void> } {
  const left: (() => Promise<void>)[] = [];
  return {
    teardown: work => void left.push(work),
    async end() {
      for (const work of left.reverse()) await work();
    },
  };
}
