/*! Formats the differences between two definitions. */
import { styleText } from 'node:util';
import type { PropertyDifference } from '@sqlpipe/ddl';
import { truncate } from '@sqlpipe/text';

/** The maximum number of UTF-16 code units of a value that are shown. */
const WIDTH = 160;

/**
 * Formats one line per property, without line ends and safe to show: `column 'price': FLOAT in schema.sql, DOUBLE in prod`.
 * @param labels the names of A and B
 * @param colors whether the value of A is red and the value of B is green
 */
export const formatPropertyLines = (
  differences: readonly PropertyDifference[],
  [a, b]: readonly [a: string, b: string],
  colors = false,
): string[] =>
  differences.map(each => {
    const paint = (color: 'red' | 'green', text: string) =>
      colors ? styleText(color, text, { validateStream: false }) : text;
    const value = (color: 'red' | 'green', text: string) => paint(color, truncate(text, WIDTH));
    return `${truncate(each.property, WIDTH)}: ${value('red', each.a)} in ${truncate(a, WIDTH)}, ${value('green', each.b)} in ${truncate(b, WIDTH)}`;
  });
