/** Returns `; did you mean WORD?` for the most similar word, or '' if none is similar. */
export function formatSuggestion(typed: string, words: readonly string[]): string {
  const close = words
    .map(word => ({ word, edits: countEdits(typed.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, edits }) => edits <= Math.min(3, Math.floor(word.replace(/^-+/, '').length / 3)))
    .sort((a, b) => a.edits - b.edits);
  return close[0] ? `; did you mean ${close[0].word}?` : '';
}

/** Whether a word is one of these, perhaps with one typing error. */
export const isSimilar = (typed: string, words: readonly string[]): boolean =>
  words.some(word => Math.abs(typed.length - word.length) < 2 && countEdits(typed, word, 1) < 2);

/** The number of letters to insert, remove, replace or swap with the next one to turn one word into the other; `Infinity` above `limit`. */
function countEdits(a: string, b: string, limit = 3): number {
  if (a === b) return 0;
  if (a[0] === b[0]) return countEdits(a.slice(1), b.slice(1), limit);
  if (limit === 0) return Number.POSITIVE_INFINITY;
  const isSwapped = a[0] === b[1] && a[1] === b[0];
  const lengths = [[1, 0], [0, 1], [1, 1], ...(isSwapped ? [[2, 2]] : [])] as const;
  return 1 + Math.min(...lengths.map(([inA, inB]) => countEdits(a.slice(inA), b.slice(inB), limit - 1)));
}
