/*! How long something that a test has started lives: as long as the test, or as long as its file. */
import test from 'ava';

/** Where clean-up is left to be done. An ava `t` is one: as long as one test. */
export interface Scope {
  teardown(work: () => Promise<void>): void;
}

/** A scope for what the tests of one file share. Call it at the top of the file, use it in `test.before`. */
export function fileScope(): Scope {
  const left: (() => Promise<void>)[] = [];
  test.after.always(async () => {
    for (const work of left.reverse()) await work();
  });
  return { teardown: work => void left.push(work) };
}
