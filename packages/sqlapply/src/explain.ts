/*! What to tell about a statement that is not in force on the target: what happened, where, and the place in its text. */
import { mend } from '@sqlpipe/catalog';
import { unifiedDiff } from '@sqlpipe/cli';
import { conceal, excerpt, printable, title } from '@sqlpipe/sql';
import type { Outcome } from './outcome.js';

/** The most of the server's words that is shown, in UTF-16 code units. */
const LENGTH = 1000;

/** The most of a long line that is shown, in UTF-16 code units. */
const WIDTH = 100;

const DENIED = '; has the user the right to it, or is the server read-only?';

/** The message for a reject: statement number, kind and name, the server's words, and a caret or a difference. */
export function explain({ n, identity, statement, result, error = '', position, existing, denied }: Outcome): string {
  const unknown = result === 'unknown' ? 'whether it was applied is unknown: ' : '';
  const head = `${place({ n, identity })}: ${unknown}${excerpt(error, LENGTH)}${denied ? DENIED : ''}`;
  if (existing !== undefined) return `${head}\n${difference(statement, existing)}`;
  return position === undefined ? head : `${head}\n${pointAt(conceal(statement), position)}`;
}

/** The note for a definition that CREATE OR REPLACE puts another in the place of: the difference. */
export const explainReplaced = (outcome: Outcome): string =>
  explain({ ...outcome, ...outcome.replaced, error: 'it replaces a different definition' });

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

/** Two definitions as a unified diff without its file headers; as they are compared: what is misprinted is no difference. */
function difference(statement: string, existing: string): string {
  const lines = unifiedDiff(asCompared(existing), asCompared(statement)).map(line => `  ${line}`);
  return ['  - on the target  + the statement', ...lines].join('\n');
}

const asCompared = (text: string): string => mend(conceal(text)).statement;
