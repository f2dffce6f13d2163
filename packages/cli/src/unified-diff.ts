/*! How a difference between two statements is shown, wherever one is. */
import { type StructuredPatchHunk, structuredPatch } from 'diff';

const OPTIONS = {
  /** Lines around a change. */
  context: 2,
  /** Lines that may differ: finding more takes quadratic time. */
  maxEditLength: 1000,
};

/** A comma at the end of a line only says that another line follows. */
const withoutComma = (line: string): string => line.replace(/,?\n?$/, '');
const IGNORE_COMMAS = { ...OPTIONS, comparator: (a: string, b: string) => withoutComma(a) === withoutComma(b) };

/**
 * The lines of a unified diff without its file headers: `-` is of the first text, `+` of the second. None for equal
 * texts. A comma that moved makes no line differ, unless nothing else does. Where very much differs, all lines of the one and then all of the other. They are not escaped: the caller has
 * to do that.
 */
export function unifiedDiff(before: string, after: string): string[] {
  const [a, b] = [`${before}\n`, `${after}\n`];
  const findHunks = (options: typeof OPTIONS): StructuredPatchHunk[] =>
    structuredPatch('', '', a, b, '', '', options)?.hunks ?? [replacementHunk(a, b)];
  const found = findHunks(IGNORE_COMMAS);
  const hunks = found.length > 0 ? found : findHunks(OPTIONS);
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ]);
}

/** One text in place of another, as a hunk. */
function replacementHunk(before: string, after: string): StructuredPatchHunk {
  const [removed, added] = [before, after].map(text => text.split('\n').slice(0, -1)) as [string[], string[]];
  return {
    oldStart: 1,
    oldLines: removed.length,
    newStart: 1,
    newLines: added.length,
    lines: [...removed.map(line => `-${line}`), ...added.map(line => `+${line}`)],
  };
}
