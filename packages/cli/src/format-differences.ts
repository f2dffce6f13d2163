import { styleText } from 'node:util';
import type { PropertyDifference } from '@sqlpipe/ddl';
import { formatExcerpt } from '@sqlpipe/text';
import { structuredPatch } from 'diff';

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
    const value = (color: Style, text: string) => paint(formatExcerpt(text, WIDTH), hasColors && color);
    return `${formatExcerpt(each.property, WIDTH)}: ${value('red', each.a)} in ${formatExcerpt(a, WIDTH)}, ${value('green', each.b)} in ${formatExcerpt(b, WIDTH)}`;
  });

/**
 * Returns the lines of a unified diff without file headers: `-` for the first text, `+` for the second; none for equal texts. A comma at
 * the end of a line counts only if nothing else differs. If too many lines differ, the result is all lines of the first text and then all
 * of the second. The caller has to escape the lines.
 */
export function unifiedDiff(before: string, after: string): string[] {
  // The maximum number of different lines is limited, because the time grows with its square.
  const compare = (withoutEnd: (line: string) => string) => {
    const comparator = (a: string, b: string) => withoutEnd(a) === withoutEnd(b);
    const options = { context: 2, maxEditLength: 1000, comparator };
    return structuredPatch('', '', `${before}\n`, `${after}\n`, '', '', options);
  };
  const withoutCommas = compare(line => line.replace(/,?\n?$/, ''));
  const patch = withoutCommas?.hunks.length === 0 ? compare(line => line) : withoutCommas;
  if (patch)
    return patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
      ...lines,
    ]);
  const [removed, added] = [before.split('\n'), after.split('\n')];
  const head = `@@ -1,${removed.length} +1,${added.length} @@`;
  return [head, ...removed.map(line => `-${line}`), ...added.map(line => `+${line}`)];
}
