/*! The lifetime of what a test has started: the test, or all tests of a file. */

import { openScope } from './open-scope.js';
import { test } from './test.js';

/** Registers clean-up work. An ava `t` is a scope: it ends with its test. */
export interface Scope {
  teardown(work: () => Promise<void>): void;
}

/** A scope for what all tests of a file share. Create it at the top of the file, and use it in `test.before`. */
export function fileScope(): Scope {
  const scope = openScope();
  test.after.always(() => scope.end());
  return scope;
}
