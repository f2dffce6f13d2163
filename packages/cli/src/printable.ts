/*! Text from servers and files, made safe to show: a terminal obeys control characters, a reader should see them. */

/** C0 but for tab and LF, DEL, C1, and the characters that reorder or break lines. */
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** The text with control characters as `\xNN` or `\uNNNN`; tabs and line feeds stay. */
export const printable = (text: string): string => text.replace(CONTROL, escape);

/** The same on one line: tabs and line feeds are escaped too. */
export const oneLine = (text: string): string =>
  printable(text).replace(/[\t\n]/g, sign => (sign === '\n' ? '\\n' : '\\t'));

function escape(sign: string): string {
  const code = sign.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`;
}
