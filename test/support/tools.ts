/*! Tests that need a tool which a bare system lacks. */

import { isMissing, type Tool } from '../../scripts/skipped.js';
import { test } from './test.js';

/** As `test`, for what needs these tools: skipped where one is missing, except in CI, where that is a failure. */
export function testWith(...tools: Tool[]): typeof test | typeof test.skip {
  const missing = tools.filter(isMissing);
  if (missing.length > 0)
    console.error(
      `Tests with ${tools.join(' and ')} are ${process.env.CI ? 'failing' : 'skipped'}: no ${missing.join(', no ')}`,
    );
  return missing.length > 0 && !process.env.CI ? test.skip : test;
}
