/*! AVA's `test` for all files: the tests of a file run one after the other, and files run in parallel. */
import ava from 'ava';
import { isMissing, type Tool } from '../../scripts/skipped.js';
import { CORPUS } from './corpus.js';
import { openScope, type Scope } from './scope.js';

export type { Scope };
export const test = ava.serial;
export const { macro } = ava;

/** Like `test`, for tests of what real servers have replied. They are skipped where the recordings are missing. */
export const testRecorded = CORPUS ? test : test.skip;

/** A scope for what all tests of a file share. Create it at the top of the file, and use it in `test.before`. */
export function fileScope(): Scope {
  const scope = openScope();
  test.after.always(() => scope.end());
  return scope;
}

/** Like `test`, for tests that need these tools. They are skipped if one is missing; in CI they fail. */
export function testWith(...tools: Tool[]): typeof test | typeof test.skip {
  const missing = tools.filter(isMissing);
  if (missing.length > 0)
    console.error(
      `Tests with ${tools.join(' and ')} are ${process.env.CI ? 'failing' : 'skipped'}: no ${missing.join(', no ')}`,
    );
  return missing.length > 0 && !process.env.CI ? test.skip : test;
}
