/*! How long something that a test has started lives: as long as the test, or as long as its file. */

import { openScope } from './open-scope.js';
import { test } from './test.js';

/** Where clean-up is left to be done. An ava `t` is one: as long as one test. */
export interface Scope {
  teardown(work: () => Promise<void>): void;
}

/** A scope for what the tests of one file share. Call it at the top of the file, use it in `test.before`. */
export function fileScope(): Scope {
  const scope = openScope();
  test.after.always(() => scope.end());
  return scope;
}
