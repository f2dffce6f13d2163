/*! The system calls of a program, by strace. */
import { spawnSync } from 'node:child_process';
import { test } from './test.js';

const hasStrace = spawnSync('strace', ['-V']).status === 0;
if (!hasStrace)
  console.error(`Tests of system calls are ${process.env.CI ? 'failing' : 'skipped'}: strace is not on the PATH`);

/** As `test`, for what needs strace: skipped where it is missing, except in CI, where that is a failure. */
export const testWithStrace = hasStrace || process.env.CI ? test : test.skip;
