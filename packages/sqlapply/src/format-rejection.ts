/*!
 * The message about a statement that is not in force on the target: which statement, what happened, and the position in
 * its text.
 */

import { formatPropertyLines } from '@sqlpipe/cli';
import { displayName, escapeControls, redact, truncate } from '@sqlpipe/sql';
import { hintFor } from './hints.js';
import { formatLocation } from './input.js';
import type { Outcome } from './outcome.js';

/** Maximum length of the server's message, in UTF-16 code units. */
const MAX_MESSAGE = 1000;

/** Maximum length of a line of the statement, in UTF-16 code units. */
const MAX_LINE = 100;

const DENIED_HELP = '; does the user have the permission, or is the server read-only?';

/**
 * The message for a reject: statement number, kind and name, the server's message, a caret or the differences, and a
 * hint if one is known.
 * @param target the label of the target
 * @param colors whether to color the lines below the first
 */
export function formatRejection(outcome: Outcome, target: string, colors = false): [head: string, below?: string[]] {
  const { statement, result, error = '', position, comparison, denied } = outcome;
  const unknown = result === 'unknown' ? 'whether it was applied is unknown: ' : '';
  const head = `${statementLabel(outcome)}: ${unknown}${truncate(error, MAX_MESSAGE)}${denied ? DENIED_HELP : ''}`;
  const differences = formatPropertyLines(comparison?.differences ?? [], ['the statement', target], colors);
  const caret = position === undefined ? [] : formatCaret(redact(statement), position);
  const hint = hintFor(outcome);
  const below = differences.length > 0 ? differences.map(line => `  ${line}`) : caret;
  return [head, [...below, ...(hint ? [`  hint: ${hint}`] : [])]];
}

/** The warning that CREATE OR REPLACE changes a definition, with the difference. */
export function formatReplacement(outcome: Outcome, target: string): string[] {
  const replaced = { ...outcome, ...outcome.replaced, error: 'it replaces a different definition' };
  return formatRejection(replaced, target).flatMap(lines => lines ?? []);
}

/**
 * The name of a statement in messages: `schema.sql:42: table 'fx_trades'` for a file, or `statement 3 (table
 * 'fx_trades')`.
 */
export function statementLabel({ n, statement, identity, location, position }: LabelledStatement): string {
  const what = escapeControls(displayName(identity));
  if (location?.line !== undefined) return `${escapeControls(formatLocation(location, statement, position))}: ${what}`;
  return `${location ? `${escapeControls(location.path)}: ` : ''}statement ${n} (${what})`;
}

type LabelledStatement = Pick<Outcome, 'n' | 'statement' | 'identity' | 'location' | 'position'>;

/** The line of a text that contains a position, and a caret below that position. */
function formatCaret(text: string, position: number): string[] {
  const at = Math.min(Math.max(position, 0), text.length);
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const start = Math.max(lineStart, at - MAX_LINE / 2);
  const [line = ''] = text.slice(start, start + MAX_LINE).split('\n', 1);
  const before = text.slice(start, at);
  const plain = (piece: string) => escapeControls(piece.replaceAll('\t', ' '));
  return [`  ${plain(line)}`, `  ${' '.repeat(plain(before).length)}^`];
}
