/*!
 * Named windows, which the package's grammar does not have: `sum(x) OVER w … WINDOW w AS (…)` is parsed as
 * `sum(x) OVER (…)`. ANCHOR, which says when the window of a live view starts again, changes no column and is left out.
 */

import { RejectionError } from '@sqlpipe/ddl/grammar';
import { foldCase } from '@sqlpipe/sql';

interface Token {
  readonly image: string;
  readonly startOffset: number;
  readonly endOffset?: number | undefined;
}

const isWord = (token: Token | undefined, ...words: readonly string[]): boolean =>
  token !== undefined && words.includes(token.image.toLowerCase());

/** Writes the definition of each named window in the place of its name, and leaves out the WINDOW clauses. */
export function inlineWindows<T extends Token>(tokens: readonly T[]): T[] {
  const inlined: T[] = [];
  const openings: number[] = [];
  for (let at = 0; at < tokens.length; ) {
    const clause = isWord(tokens[at], 'window') ? readWindows(tokens, at + 1) : undefined;
    if (clause) {
      const ofQuery = inlined.splice(openings.at(-1) ?? 0);
      for (const token of replaceNames(ofQuery, clause.windows)) inlined.push(token);
      at = clause.end;
      continue;
    }
    const token = tokens[at++] as T;
    if (token.image === ')') openings.pop();
    inlined.push(token);
    if (token.image !== '(') continue;
    if (isWord(tokens[at - 2], 'over')) {
      const close = closingOf(tokens, at - 1);
      const end = close < 0 ? tokens.length : close;
      openings.push(inlined.length);
      for (const part of withoutAnchor(tokens.slice(at, end))) inlined.push(part);
      at = end;
      continue;
    }
    openings.push(inlined.length);
  }
  return inlined;
}

/** Reads `w AS (…), v AS (…)`; undefined if it is something else. */
function readWindows<T extends Token>(
  tokens: readonly T[],
  from: number,
): { windows: Map<string, readonly T[]>; end: number } | undefined {
  const windows = new Map<string, readonly T[]>();
  for (let at = from; ; ) {
    const [name, as, open] = tokens.slice(at, at + 3);
    if (!name || !isWord(as, 'as') || open?.image !== '(') return undefined;
    const close = closingOf(tokens, at + 2);
    if (close < 0) return undefined;
    const [first, ...rest] = withoutAnchor(tokens.slice(at + 3, close));
    const inherited = first && windows.get(nameOf(first));
    const start = inherited?.slice(1, -1) ?? (first ? [first] : []);
    windows.set(nameOf(name), [open, ...start, ...rest, tokens[close] as T]);
    if (tokens[close + 1]?.image !== ',') return { windows, end: close + 1 };
    at = close + 2;
  }
}

const nameOf = ({ image }: Token): string => foldCase(image.replaceAll('"', ''));

/** The index of the parenthesis that closes the one at `open`; -1 if there is none. */
function closingOf(tokens: readonly Token[], open: number): number {
  let depth = 0;
  return tokens.findIndex(({ image }, i) => {
    if (i < open) return false;
    if (image === '(') depth++;
    return image === ')' && --depth === 0;
  });
}

function withoutAnchor<T extends Token>(definition: readonly T[]): readonly T[] {
  const anchor = definition.findIndex(
    (token, i) => isWord(token, 'anchor') && isWord(definition[i + 1], 'daily', 'expression'),
  );
  return anchor < 0 ? definition : definition.slice(0, anchor);
}

/**
 * Maximum number of tokens after that. A long definition that many functions use makes them grow with the square of the
 * text: without a limit, 36,000 tokens became 32 million in 3 GB.
 */
const MAX_TOKENS = 1_000_000;

/** Replaces each name after OVER. The tokens of the definition get the position of the name, which stands in their place. */
function replaceNames<T extends Token>(tokens: readonly T[], windows: ReadonlyMap<string, readonly T[]>): T[] {
  const definitions = tokens.map((token, i) =>
    isWord(tokens[i - 1], 'over') ? windows.get(nameOf(token)) : undefined,
  );
  const count = definitions.reduce((sum, definition) => sum + (definition?.length ?? 1), 0);
  if (count > MAX_TOKENS) throw new RejectionError(0, 'SQL model is too complex');
  return tokens.flatMap((token, i) => {
    const { startOffset, endOffset } = token;
    return definitions[i]?.map(part => ({ ...part, startOffset, endOffset })) ?? [token];
  });
}
