/*! Text that is safe to show: without the secrets of a statement or of a request. */
import { identify, type Kind } from './identify.js';
import { keywordOf, significantTokens, type Token, unquote } from './tokens.js';

/** Words that a secret follows: `WITH PASSWORD 'x'`, `DROP TOKEN TYPE REST 'x'`. */
const BEFORE_SECRET = new Set(['PASSWORD', 'TOKEN']);
/** Words that may come between. */
const BETWEEN = new Set(['=', 'TYPE', 'REST']);
/** What follows those words and is no secret: `GRANT ADD PASSWORD TO`, `CREATE TOKEN TYPE REST WITH TTL`. */
const NO_SECRET = new Set(['WITH', 'TO', 'FROM', 'ON']);
/** Statements that hold none: there those words are names. */
const KINDS_WITHOUT_SECRETS: ReadonlySet<Kind> = new Set(['table', 'view', 'matview', 'liveview']);

/** A statement with its secrets replaced by stars; offsets stay the same unless `mask` changes the length. */
export function redact(statement: string, mask = (secret: string) => '*'.repeat(secret.length)): string {
  let shown = '';
  let end = 0;
  for (const { text, start } of locateSecrets(statement)) {
    const stars = text.replace(QUOTES, (_, open, inner, close) => open + mask(inner) + close);
    shown += statement.slice(end, start) + stars;
    end = start + text.length;
  }
  return shown + statement.slice(end);
}

/** Quotes around, if there are any, and what is in them. */
const QUOTES = /^(['"`]?)([^]*?)(\1?)$/;

/** The secrets of a statement, without quotes: as written, and unescaped. */
export const findSecrets = (statement: string): string[] =>
  locateSecrets(statement).flatMap(({ text }) => [text.replace(QUOTES, '$2'), unquote(text)]);

/**
 * The positions of the secrets, with their quotes. They do not overlap: overlapping ones could add up to more than a
 * string can hold.
 */
function locateSecrets(statement: string): Pick<Token, 'text' | 'start'>[] {
  if (!/password|token/i.test(statement) || KINDS_WITHOUT_SECRETS.has(identify(statement).kind)) return [];
  const found: Pick<Token, 'text' | 'start'>[] = [];
  let end = 0;
  let isNext = false;
  for (const token of significantTokens(statement)) {
    if (isNext && BETWEEN.has(token.text.toUpperCase())) continue;
    const { start } = token;
    const before = found.at(-1);
    if (isNext && !NO_SECRET.has(keywordOf(token)) && (start >= end || isQuoted(token))) {
      if (before && start < end) before.text = before.text.slice(0, start - before.start);
      const text = secretAt(statement, token);
      if (text) found.push({ text, start });
      end = start + text.length;
    }
    isNext = BEFORE_SECRET.has(keywordOf(token));
  }
  return found;
}

const isQuoted = ({ type }: Token): boolean => type === 'string' || type === 'name';

/** The secret that begins with a token; one that is quoted may hold doubled quotes, and the text may end in it. */
function secretAt(statement: string, token: Token): string {
  const pattern = isQuoted(token) ? QUOTED : BARE;
  pattern.lastIndex = token.start;
  return pattern.exec(statement)?.[0] ?? '';
}

const QUOTED = /'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`(?:[^`]|``)*`?/y;
/** A bare one ends as a word of a command does. */
const BARE = /[^\s;),]+/y;

/** A text with stars in place of the secrets, also where they are escaped as in URLs, JSON or HTML, even twice. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap(secret => [secret, secret.replaceAll('+', ' ')]);
  const wanted = [...new Set(forms.map(toByteString))].filter(Boolean);
  if (!wanted.length) return text;
  const shown = Buffer.from(text);
  const raw = { text: toByteString(text), starts: Array.from({ length: shown.length + 1 }, (_, i) => i) };
  const once = decodeEscapes(raw);
  for (const decoded of [raw, ...once, ...once.flatMap(decodeEscapes)])
    for (const secret of wanted)
      for (let at = decoded.text.indexOf(secret); at >= 0; at = decoded.text.indexOf(secret, at + 1))
        if (isStandalone(decoded.text, at, secret)) shown.fill('*', ...originalSpan(decoded, at, at + secret.length));
  return shown.toString();
}

/** A text as a string of its bytes in UTF-8, and where each stood before escapes were undone. */
interface DecodedText {
  text: string;
  starts: number[];
}

const toByteString = (text: string): string => Buffer.from(text).toString('latin1');

const JSON_LETTERS: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const HTML_NAMES: Record<string, string> = { quot: '"', amp: '&', apos: "'", lt: '<', gt: '>' };

const ESCAPES: [pattern: RegExp, meaning: (sequence: string) => string][] = [
  [/%[\da-f]{2}|\+/gi, sequence => (sequence === '+' ? ' ' : String.fromCharCode(Number(`0x${sequence.slice(1)}`)))],
  [
    /(?:\\u[\da-f]{4}){1,1000}|\\[^]/gi,
    sequence =>
      sequence.length === 2
        ? (JSON_LETTERS[sequence.charAt(1)] ?? sequence.charAt(1))
        : toByteString(String.fromCharCode(...(sequence.match(/[\da-f]{4}/gi) ?? []).map(unit => Number(`0x${unit}`)))),
  ],
  [
    /&(?:#\d{1,7}|#x[\da-f]{1,6}|quot|amp|apos|lt|gt);/gi,
    sequence => {
      const name = sequence.slice(1, -1).toLowerCase();
      const code = Number(name.replace('#x', '0x').replace('#', ''));
      return HTML_NAMES[name] ?? (code <= 0x10ffff ? toByteString(String.fromCodePoint(code)) : sequence);
    },
  ],
];

/** What a text says where escapes of one sort are undone, for each sort that is in it. */
const decodeEscapes = (source: DecodedText): DecodedText[] =>
  ESCAPES.flatMap(([pattern, meaning]) => {
    const { text, starts } = source;
    const found = [...text.matchAll(pattern)];
    if (!found.length) return [];
    const parts: string[] = [];
    const origins: number[] = [];
    let end = 0;
    for (const { 0: sequence, index } of found) {
      const decoded = meaning(sequence);
      parts.push(text.slice(end, index), decoded);
      for (; end < index; end++) origins.push(starts[end] as number);
      for (const _ of decoded) origins.push(starts[index] as number);
      end = index + sequence.length;
    }
    parts.push(text.slice(end));
    for (; end < starts.length; end++) origins.push(starts[end] as number);
    return { text: parts.join(''), starts: origins };
  });

/** The bytes that a piece of a reading stood in; of an sequence all. */
function originalSpan({ starts }: DecodedText, from: number, to: number): [start: number, end: number] {
  let end = to;
  while (starts[end] === starts[to - 1]) end++;
  return [starts[from] as number, starts[end] as number];
}

/** A short secret may be part of many words, and stars there would reveal it: only a separate word counts. */
function isStandalone(text: string, at: number, secret: string): boolean {
  const isWithinWord = (place: number): boolean => /^\w\w$/.test(text.slice(Math.max(0, place - 1), place + 1));
  return secret.length >= 8 || !(isWithinWord(at) || isWithinWord(at + secret.length));
}
