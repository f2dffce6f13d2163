/** Returns `; did you mean WORD?` for the most similar word, or '' if none is similar. */
export function formatSuggestion(typed: string, words: readonly string[]): string {
  const close = words
    .map(word => ({ word, edits: editDistance(typed.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, edits }) => edits <= Math.min(3, Math.floor(word.replace(/^-+/, '').length / 3)))
    .sort((a, b) => a.edits - b.edits);
  return close[0] ? `; did you mean ${close[0].word}?` : '';
}

/** The number of letters to insert, remove, replace or swap with the next one to turn one word into the other. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 3) return Number.POSITIVE_INFINITY; // the caller accepts 3 at most, and words may be long
  let [beforeLast, last]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        (last?.[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last?.[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast?.[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [beforeLast, last] = [last, row];
  }
  return last?.[b.length] ?? 0;
}
