/*! What to tell about a statement that is not in force on the target: what happened, where, and the place in its text. */

import { propertyLines } from '@sqlpipe/cli';
import { conceal, excerpt, printable, title } from '@sqlpipe/sql';
import { hintFor } from './hints.js';
import type { Outcome } from './outcome.js';

/** The most of the server's words that is shown, in UTF-16 code units. */
const LENGTH = 1000;

/** The most of a long line that is shown, in UTF-16 code units. */
const WIDTH = 100;

const DENIED = '; has the user the right to it, or is the server read-only?';

/**
 * The message for a reject: statement number, kind and name, the server's message, a caret or the differences, and a hint where there is one.
 * @param target what the target is called
 */
export function explain(outcome: Outcome, target: string): string {
  const { n, identity, statement, result, error = '', position, comparison, denied } = outcome;
  const unknown = result === 'unknown' ? 'whether it was applied is unknown: ' : '';
  const head = `${place({ n, identity })}: ${unknown}${excerpt(error, LENGTH)}${denied ? DENIED : ''}`;
  const differences = propertyLines(comparison?.differences ?? [], ['the statement', target]).map(line => `  ${line}`);
  const caret = position === undefined ? [] : [pointAt(conceal(statement), position)];
  const hint = hintFor(outcome);
  const lines = [head, ...(differences.length > 0 ? differences : caret), ...(hint ? [`  hint: ${hint}`] : [])];
  return lines.join('\n');
}

/** The note for a definition that CREATE OR REPLACE puts another in the place of: the difference. */
export const explainReplaced = (outcome: Outcome, target: string): string =>
  explain({ ...outcome, ...outcome.replaced, error: 'it replaces a different definition' }, target);

/** Which statement it is: `statement 3 (table 'fx_trades')`. */
export const place = ({ n, identity }: Pick<Outcome, 'n' | 'identity'>): string =>
  `statement ${n} (${printable(title(identity))})`;

/** The line of a text that holds a position, and a caret under it. */
function pointAt(text: string, position: number): string {
  const at = Math.min(Math.max(position, 0), text.length);
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const start = Math.max(lineStart, at - WIDTH / 2);
  const [line = ''] = text.slice(start, start + WIDTH).split('\n', 1);
  const before = text.slice(start, at);
  return `  ${printable(line.replaceAll('\t', ' '))}\n  ${' '.repeat(printable(before.replaceAll('\t', ' ')).length)}^`;
}
