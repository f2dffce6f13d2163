/*! Random choices that are the same in each run, so that nobody's change is red by chance: another SEED makes others. */
import fc from 'fast-check';
import { randomness } from './schema-pairs.js';

export const SEED = Number(process.env.SEED ?? 1);
fc.configureGlobal({ seed: SEED });

export { fc };

/** Any character. The unit 'binary' of fast-check is the same, and takes a second to prepare. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10_ff_ff - 0x8_00 })
  .map(code => String.fromCodePoint(code < 0xd8_00 ? code : code + 0x8_00));

export const random = randomness(SEED);

export function splitAt<Whole extends string | Buffer>(whole: Whole, places: readonly number[]): Whole[] {
  const ends = [...new Set(places.map(place => place % (whole.length + 1)))].sort((a, b) => a - b);
  const cut = (start = 0, end: number) =>
    typeof whole === 'string' ? whole.slice(start, end) : whole.subarray(start, end);
  return [...ends, whole.length].map((end, i) => cut(ends[i - 1], end) as Whole);
}

/** Arbitraries, and what has to hold for their values: it throws, or returns false, if it does not. */
type Law<Values extends [unknown, ...unknown[]]> = [
  ...arbitraries: { [K in keyof Values]: fc.Arbitrary<Values[K]> },
  law: (...values: Values) => unknown,
];

export const forAll = <Values extends [unknown, ...unknown[]]>(runs: number, ...law: Law<Values>): void =>
  fc.assert(fc.property(...(law as Parameters<typeof fc.property<Values>>)), { numRuns: runs });

/** For a law that takes time. */
export const forAllAsync = <Values extends [unknown, ...unknown[]]>(runs: number, ...law: Law<Values>): Promise<void> =>
  fc.assert(fc.asyncProperty(...(law as Parameters<typeof fc.asyncProperty<Values>>)), { numRuns: runs });
