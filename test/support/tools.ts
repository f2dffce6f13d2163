/*! Tests that need a tool that may not be installed. */

import { isMissing, type Tool } from '../../scripts/skipped.js';
import { test } from './test.js';

/** Like `test`, for tests that need these tools. They are skipped if one is missing; in CI they fail. */
export function testWith(...tools: Tool[]): typeof test | typeof test.skip {
  const missing = tools.filter(isMissing);
  if (missing.length > 0)
    console.error(
      `Tests with ${tools.join(' and ')} are ${process.env.CI ? 'failing' : 'skipped'}: no ${missing.join(', no ')}`,
    );
  return missing.length > 0 && !process.env.CI ? test.skip : test;
}
