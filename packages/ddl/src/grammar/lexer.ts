/*!
 * SQL text as the service cuts it into tokens, which is not how the SQL standard does: quotes pair inside block
 * comments, `a"b"` is one token, blanks are tokens too. Refusals and their positions follow from it (read in
 * GenericLexer, checked on 9.3.4), so nothing here is to be mended.
 */

/** The longest first, as the service looks for them. */
const symbols = [
  ...['<<=', '>>=', '/*+'],
  ...['/*', '*/', '--', ':=', '::', '<<', '>>', '||', '<=', '>=', '!=', '<>', '!~'],
  ...[...'();,[]~.:*/%+-&^|<>= \t\n\r'],
];

const symbolsByFirst = new Map<string, string[]>();
for (const symbol of symbols) {
  const first = symbol.charAt(0);
  symbolsByFirst.set(first, [...(symbolsByFirst.get(first) ?? []), symbol]);
}

/** A token: `text.slice(at, end)`. */
export interface Token {
  readonly at: number;
  readonly end: number;
  /** How far the service had read when it knew the token: past the symbol or blank that ended it. */
  readonly reach: number;
}

/** The token that starts at `from`, or undefined at the end of the text. */
export function scan(text: string, from: number): Token | undefined {
  if (from >= text.length) return;
  for (let pos = from; pos < text.length; pos++) {
    const char = text.charAt(pos);
    if (char === "'" || char === '"' || char === '`') {
      const close = closingQuote(text, pos + 1, char);
      if (close >= 0) return { at: from, end: close + 1, reach: close + 1 };
      return pos === from ? { at: from, end: from + 1, reach: from + 1 } : { at: from, end: pos, reach: pos };
    }
    const symbol = symbolsByFirst.get(char)?.find(candidate => text.startsWith(candidate, pos));
    if (symbol) return { at: from, end: pos === from ? pos + symbol.length : pos, reach: pos + symbol.length };
  }
  return { at: from, end: text.length, reach: text.length };
}

/** A doubled quote does not close, but for the backtick. */
function closingQuote(text: string, from: number, quote: string): number {
  for (let pos = text.indexOf(quote, from); pos >= 0; pos = text.indexOf(quote, pos + 2)) {
    if (quote === '`' || text.charAt(pos + 1) !== quote) return pos;
  }
  return -1;
}
