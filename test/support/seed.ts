/*! Choices that differ from run to run, and can be repeated: SEED is what a test printed. */
import { randomInt } from 'node:crypto';
import { randomness } from './schema-pairs.js';

/** The seed of this run, for titles and messages. */
export const SEED = Number(process.env.SEED ?? randomInt(2 ** 31));

/** Random choices of this run. */
export const random = randomness(SEED);
