import { styleText } from 'node:util';
import type { PropertyDifference } from '@sqlpipe/ddl';
import { truncate } from '@sqlpipe/text';
import { type StructuredPatchHunk, structuredPatch } from 'diff';

type Style = 'bold' | 'cyan' | 'dim' | 'green' | 'red';

/** Gives a text a style, if there is one; not depending on a stream, because `Io` says whether it shows colors. */
export const paint = (text: string, style: Style | false | undefined): string =>
  text && style ? styleText(style, text, { validateStream: false }) : text;

const WIDTH = 160;

/** Formats one line per property, without its line end and safe to show: `column 'price': FLOAT in schema.sql, DOUBLE in prod`. */
export const formatPropertyLines = (
  differences: readonly PropertyDifference[],
  [a, b]: readonly [a: string, b: string],
  hasColors = false,
): string[] =>
  differences.map(each => {
    const value = (color: Style, text: string) => paint(truncate(text, WIDTH), hasColors && color);
    return `${truncate(each.property, WIDTH)}: ${value('red', each.a)} in ${truncate(a, WIDTH)}, ${value('green', each.b)} in ${truncate(b, WIDTH)}`;
  });

const OPTIONS = {
  context: 2,
  /** The maximum number of different lines: the time grows with its square. */
  maxEditLength: 1000,
};

/** Removes a comma at the end of a line: it only separates the line from the next one. */
const withoutComma = (line: string): string => line.replace(/,?\n?$/, '');
const IGNORE_COMMAS = { ...OPTIONS, comparator: (a: string, b: string) => withoutComma(a) === withoutComma(b) };

/**
 * Returns the lines of a unified diff without file headers: `-` for the first text, `+` for the second; none for equal texts. A comma at
 * the end of a line counts only if nothing else differs. If too many lines differ, the result is all lines of the first text and then all
 * of the second. The caller has to escape the lines.
 */
export function unifiedDiff(before: string, after: string): string[] {
  const [a, b] = [`${before}\n`, `${after}\n`];
  const findHunks = (options: typeof OPTIONS): StructuredPatchHunk[] =>
    structuredPatch('', '', a, b, '', '', options)?.hunks ?? [replacementHunk(a, b)];
  const hunksWithoutCommas = findHunks(IGNORE_COMMAS);
  const hunks = hunksWithoutCommas.length > 0 ? hunksWithoutCommas : findHunks(OPTIONS);
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ]);
}

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
