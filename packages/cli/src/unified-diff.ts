/*! How a difference between two statements is shown, wherever one is. */
import { type StructuredPatchHunk, structuredPatch } from 'diff';

const OPTIONS = {
  /** Lines around a change. */
  context: 2,
  /** Lines that may differ: to find out how many more do takes time by their square. */
  maxEditLength: 1000,
};

/** A comma at the end of a line says no more than that another line follows. */
const withoutComma = (line: string): string => line.replace(/,?\n?$/, '');
const EXCEPT_COMMAS = { ...OPTIONS, comparator: (a: string, b: string) => withoutComma(a) === withoutComma(b) };

/**
 * The lines of a unified diff without its file headers: `-` is of the first text, `+` of the second. None for equal texts.
 * A comma that moved makes no line differ, unless nothing else does.
 * Where very much differs, all lines of the one and then all of the other.
 * They are as the texts have them: whoever shows them escapes them.
 */
export function unifiedDiff(before: string, after: string): string[] {
  const [a, b] = [`${before}\n`, `${after}\n`];
  const hunksBy = (options: typeof OPTIONS): StructuredPatchHunk[] =>
    structuredPatch('', '', a, b, '', '', options)?.hunks ?? [replaced(a, b)];
  const found = hunksBy(EXCEPT_COMMAS);
  const hunks = found.length > 0 ? found : hunksBy(OPTIONS);
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ]);
}

/** One text in place of another, as a hunk. */
function replaced(before: string, after: string): StructuredPatchHunk {
  const [removed, added] = [before, after].map(text => text.split('\n').slice(0, -1)) as [string[], string[]];
  return {
    oldStart: 1,
    oldLines: removed.length,
    newStart: 1,
    newLines: added.length,
    lines: [...removed.map(line => `-${line}`), ...added.map(line => `+${line}`)],
  };
}
