/*! How two definitions differ, as people read it. */
import { styleText } from 'node:util';
import type { PropertyDifference } from '@sqlpipe/ddl';
import { truncate } from '@sqlpipe/sql';

/** UTF-16 code units of a value that are shown. */
const WIDTH = 160;

/**
 * A line per property, without line ends: `column 'price': FLOAT in schema.sql, DOUBLE in prod`; safe to show.
 * @param labels what the two sides are called
 * @param colors the value of the first side in red, of the second in green
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
