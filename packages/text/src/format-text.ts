/*! Text from servers, files and the system for a terminal: characters that move the cursor or reorder a line are escaped. */

/** Controls (C0, DEL, C1), line separators, bidirectional overrides, the BOM, and halves of surrogate pairs. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

const ESCAPES: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Escapes control characters as `\n`, `\x1b`, `\u202e`: the result is one line that is safe to show. */
export function escapeControls(text: string): string {
  return text.replace(UNPRINTABLE, character => ESCAPES[character] ?? escapeUnit(character).replace('\\u00', '\\x'));
}

/** Like `escapeControls`, but keeps line feeds and tabs. */
export const escapeLines = (text: string): string => text.replace(/[^\n\t]+/g, escapeControls);

/** The lines of a message after the first, indented and escaped like `escapeControls`. */
export const indentLines = (lines: readonly string[]): string[] => lines.map(line => `  ${escapeControls(line)}`);

/** A message of several lines, each safe to show: what happened, and below it why and what can be done. */
export const formatMessage = (what: string, lines: readonly string[]): string =>
  [escapeControls(what), ...indentLines(lines)].join('\n');

/** Lines of a message that say what can be done. */
export const formatHints = (hints: readonly string[]): string[] => indentLines(hints.map(hint => `hint: ${hint}`));

/** Formats a value as JSON on one line that is safe to show: what `escapeControls` would escape is escaped in JSON's syntax. */
export const formatSafeJson = (value: unknown): string => JSON.stringify(value).replace(UNPRINTABLE, escapeUnit);

/** A number of things: `1 row`, `2 rows`. @param noun a word with a plural in -s, in the singular */
export const formatCount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Cuts a text after `length` characters, and escapes it like `escapeControls`. */
export const formatExcerpt = (text: string, length: number): string =>
  escapeControls(text.length > length ? `${text.slice(0, length)}…` : text);

/** Lists the first items, and the number of the others: `a, b and 3 more`. */
export function formatFirst(items: readonly string[], maximum: number): string {
  const more = items.length > maximum ? ` and ${items.length - maximum} more` : '';
  return items.slice(0, maximum).join(', ') + more;
}

/** The message of an error. That of a system error is without its code and system call: `FILE: no such file or directory`. */
export function formatError(error: unknown): string {
  const { message, syscall, path } = error as NodeJS.ErrnoException;
  if (!syscall) return message ?? String(error);
  return `${path ?? (syscall === 'uv_cwd' ? 'the current folder' : `${syscall} failed`)}: ${systemErrorReason(error)}`;
}

/** The reason why a system call failed: `no such file or directory`. */
export function systemErrorReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'EISDIR' ? 'is a directory' : message.replace(/^(?:\w+ )?\w+: /, '').replace(/, .*/s, '');
}

const escapeUnit = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
