/*! Tests that need a tool which a bare system lacks. */
import test from 'ava';
import { isMissing, type Tool } from '../../scripts/skipped.js';

/** As `test.serial`, for what needs these tools: skipped where one is missing, except in CI, where that is a failure. */
export function testWith(...tools: Tool[]): typeof test.serial | typeof test.serial.skip {
  const missing = tools.filter(isMissing);
  if (missing.length > 0)
    console.error(
      `Tests with ${tools.join(' and ')} are ${process.env.CI ? 'failing' : 'skipped'}: no ${missing.join(', no ')}`,
    );
  return missing.length > 0 && !process.env.CI ? test.serial.skip : test.serial;
}
