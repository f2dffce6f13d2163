/*! The system calls of a program, by strace. */
import { testWith } from './tools.js';

/** As `test`, for what needs strace. */
export const testWithStrace = testWith('strace');
