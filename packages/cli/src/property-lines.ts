/*! How two definitions differ, as people read it. */
import type { PropertyDifference } from '@sqlpipe/ddl';
import { excerpt } from '@sqlpipe/sql';

/** UTF-16 code units of a value that are shown. */
const WIDTH = 160;

/**
 * A line per property, without line ends: `column 'price': FLOAT in schema.sql, DOUBLE in prod`; safe to show.
 * @param labels what the two sides are called
 */
export const propertyLines = (
  differences: readonly PropertyDifference[],
  [a, b]: readonly [a: string, b: string],
): string[] =>
  differences.map(each => {
    const value = (text: string) => excerpt(text, WIDTH);
    return `${excerpt(each.property, WIDTH)}: ${value(each.a)} in ${excerpt(a, WIDTH)}, ${value(each.b)} in ${excerpt(b, WIDTH)}`;
  });
