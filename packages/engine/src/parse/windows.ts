/*!
 * Reads the windows of a query from its tokens, because the package's grammar has neither named windows nor ANCHOR. For the grammar,
 * `sum(x) OVER w … WINDOW w AS (…)` becomes `sum(x) OVER (…)`. ANCHOR says when the window of a live view starts again. It changes no
 * column, so it is left out.
 */
import { closingIndex, isKeyword, openingIndex, type QueryToken, RejectionError, splitList } from '@sqlpipe/ddl/parser';
import { foldCase } from '@sqlpipe/sql';

export interface Window {
  readonly partitionBy: readonly QueryToken[][];
  readonly orderBy: readonly QueryToken[][];
  /** Such as `rows`; undefined for the default frame. */
  readonly frame?: string | undefined;
  /** Such as `unbounded preceding`, `3 preceding` or `current row`. */
  readonly from: string;
  readonly to: string;
  readonly excludesCurrentRow: boolean;
  /** `expression` is undefined for ANCHOR DAILY. */
  readonly anchor?: { readonly start: number; readonly expression: readonly QueryToken[] | undefined } | undefined;
}

export type NamedWindow = Window & { readonly name: string };

export type WindowCall = ReturnType<typeof readWindowCalls>[number];

export function readNamedWindows(tokens: readonly QueryToken[]): NamedWindow[] {
  const windows: NamedWindow[] = [];
  const definitions = tokens.flatMap((_, index) => splitWindowClause(tokens, index)?.definitions ?? []);
  for (const [name, definition] of definitions) windows.push({ name, ...readWindow(definition.slice(1, -1), windows) });
  return windows;
}

type WindowDefinition<T> = readonly [name: string, definition: readonly T[]];

/** Splits `WINDOW w AS (…), v AS (…)`, up to `end`. Definitions include their parentheses. Undefined for other tokens. */
function splitWindowClause<T extends QueryToken>(
  tokens: readonly T[],
  from: number,
): { definitions: WindowDefinition<T>[]; end: number } | undefined {
  if (!isKeyword(tokens[from], 'window')) return undefined;
  const definitions: WindowDefinition<T>[] = [];
  let end = from;
  do {
    const close = isKeyword(tokens[end + 2], 'as') ? closingIndex(tokens, end + 3) : -1;
    if (close < 0) return undefined;
    definitions.push([nameOf(tokens[end + 1]), tokens.slice(end + 3, close + 1)]);
    end = close + 1;
  } while (tokens[end]?.text === ',');
  return { definitions, end };
}

const nameOf = (token: QueryToken | undefined): string => foldCase((token?.text ?? '').replaceAll('"', ''));

export function readWindowCalls(tokens: readonly QueryToken[], named: readonly NamedWindow[]) {
  return tokens.flatMap((token, index) => {
    if (!isKeyword(token, 'over')) return [];
    const hasNulls = isKeyword(tokens[index - 1], 'nulls') && isKeyword(tokens[index - 2], 'ignore', 'respect');
    const close = hasNulls ? index - 3 : index - 1;
    const open = openingIndex(tokens, close);
    const name = tokens[open - 1];
    if (!name) return [];
    const isInline = tokens[index + 1]?.text === '(';
    const windowName = isInline ? undefined : nameOf(tokens[index + 1]);
    const window = isInline
      ? readWindow(tokens.slice(index + 2, closingIndex(tokens, index + 1)), named)
      : (named.find(({ name }) => name === windowName) ?? UNKNOWN_WINDOW);
    return [
      {
        ...window,
        name: name.text,
        start: name.start,
        arguments: tokens.slice(open + 1, close),
        ignoresNulls: hasNulls && isKeyword(tokens[index - 2], 'ignore'),
        windowName,
      },
    ];
  });
}

const FRAMES = ['rows', 'range', 'groups', 'cumulative'];
const HEADS = ['partition', 'order', ...FRAMES, 'anchor'];

/** The window of a name that no WINDOW clause defines. It breaks no rule of live views, because it counts as anchored. */
const UNKNOWN_WINDOW = { ...readWindow([], []), from: 'current row', anchor: { start: 0, expression: undefined } };

/** A definition may start with the name of another window, which it extends. */
function readWindow(tokens: readonly QueryToken[], named: readonly NamedWindow[]): Window {
  const inherited = isKeyword(tokens[0], ...HEADS) ? undefined : named.find(({ name }) => name === nameOf(tokens[0]));
  const isPart = (token: QueryToken) => token.depth === tokens[0]?.depth && isKeyword(token, ...HEADS);
  const starts = tokens.flatMap((token, index) => (isPart(token) ? index : []));
  const parts = new Map(
    starts.map((start, i) => [tokens[start]?.text.toLowerCase(), tokens.slice(start, starts[i + 1])]),
  );
  const frame = FRAMES.find(name => parts.has(name));
  const words = (frame === undefined ? [] : (parts.get(frame) ?? [])).slice(1).map(({ text }) => text.toLowerCase());
  const exclusion = words.indexOf('exclude');
  const bounds = (exclusion < 0 ? words : words.slice(0, exclusion)).join(' ');
  const [, from, to] = /^between (.*) and (.*)$/.exec(bounds) ?? [undefined, bounds, 'current row'];
  const [anchor, kind, ...expression] = parts.get('anchor') ?? [];
  return {
    partitionBy: inherited?.partitionBy ?? splitList(parts.get('partition')?.slice(2)),
    orderBy: parts.has('order') ? splitList(parts.get('order')?.slice(2)) : (inherited?.orderBy ?? []),
    frame,
    from: from || 'unbounded preceding',
    to: to ?? '',
    excludesCurrentRow: words[exclusion + 1] === 'current' && exclusion >= 0,
    anchor: anchor && { start: anchor.start, expression: isKeyword(kind, 'expression') ? expression : undefined },
  };
}

interface PlacedToken extends QueryToken {
  readonly startOffset: number;
  readonly endOffset?: number | undefined;
}

/** Replaces the names of windows by their definitions, and removes WINDOW clauses and ANCHOR. */
export function inlineWindows<T extends PlacedToken>(tokens: readonly T[]): T[] {
  const inlined: T[] = [];
  for (let index = 0, end = 0; index < tokens.length; index = end) {
    const clause = splitWindowClause(tokens, index);
    if (clause) {
      const depth = tokens[index]?.depth ?? 0;
      const inner = inlined.splice(inlined.findLastIndex(token => token.depth < depth) + 1);
      for (const token of replaceNames(inner, clause.definitions)) inlined.push(token);
      end = clause.end;
      continue;
    }
    const isDefinition = tokens[index]?.text === '(' && isKeyword(tokens[index - 1], 'over');
    const close = isDefinition ? closingIndex(tokens, index) : index + 1;
    end = close < 0 ? tokens.length : close;
    for (const token of removeAnchor(tokens.slice(index, end))) inlined.push(token);
  }
  return inlined;
}

function removeAnchor<T extends QueryToken>(definition: readonly T[]): readonly T[] {
  const anchor = definition.findIndex(
    (token, i) => isKeyword(token, 'anchor') && isKeyword(definition[i + 1], 'daily', 'expression'),
  );
  return anchor < 0 ? definition : definition.slice(0, anchor);
}

/** If many functions use a long definition, tokens grow with the square of the text. Without a limit, 36,000 became 32 million (3 GB). */
const MAX_TOKENS = 1_000_000;

function replaceNames<T extends PlacedToken>(tokens: readonly T[], definitions: readonly WindowDefinition<T>[]): T[] {
  const windows = new Map<string, readonly T[]>();
  for (const [name, definition] of definitions) {
    const [open, first, ...rest] = removeAnchor(definition.slice(0, -1));
    const inherited = first && windows.get(nameOf(first))?.slice(1, -1);
    const parts = [open, ...(inherited ?? [first]), ...rest, definition.at(-1)];
    windows.set(
      name,
      parts.flatMap(part => part ?? []),
    );
  }
  const replaced: T[] = [];
  for (const [i, token] of tokens.entries()) {
    const { startOffset, endOffset } = token;
    const definition = isKeyword(tokens[i - 1], 'over') ? windows.get(nameOf(token)) : undefined;
    for (const part of definition ?? [token]) replaced.push({ ...part, startOffset, endOffset });
    if (replaced.length > MAX_TOKENS) throw new RejectionError(0, 'SQL model is too complex');
  }
  return replaced;
}
