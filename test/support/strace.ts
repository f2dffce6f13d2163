/*! Tests of the system calls of a program, with strace. */
import { testWith } from './tools.js';

/** Like `test`, for tests that need strace. */
export const testWithStrace = testWith('strace');
