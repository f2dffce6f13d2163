/*! Random choices that are the same in each run, so that nobody's change is red by chance: another SEED makes others. */
import fc from 'fast-check';
import { randomness } from './schema-pairs.js';

/** The seed of this run, for titles and messages. */
export const SEED = Number(process.env.SEED ?? 1);
fc.configureGlobal({ seed: SEED });

export { fc };

/** Random choices of this run. */
export const random = randomness(SEED);
