/*! How a difference between two statements is shown, wherever one is. */
import { structuredPatch } from 'diff';

/** Lines around a change. */
const CONTEXT = 2;

/**
 * The lines of a unified diff without its file headers: `-` is of the first text, `+` of the second. None for equal texts.
 * They are as the texts have them: whoever shows them escapes them.
 */
export function unifiedDiff(before: string, after: string): string[] {
  const { hunks } = structuredPatch('', '', `${before}\n`, `${after}\n`, '', '', { context: CONTEXT });
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ]);
}
