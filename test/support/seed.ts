/*! Random choices that are the same in each run, so that nobody's change is red by chance: another SEED makes others. */
import fc from 'fast-check';
import { randomness } from './schema-pairs.js';

/** The seed of this run, for titles and messages. */
export const SEED = Number(process.env.SEED ?? 1);
fc.configureGlobal({ seed: SEED });

export { fc };

/** Any character. The unit 'binary' of fast-check is the same, and takes a second to prepare. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10_ff_ff - 0x8_00 })
  .map(code => String.fromCodePoint(code < 0xd8_00 ? code : code + 0x8_00));

/** Random choices of this run. */
export const random = randomness(SEED);
