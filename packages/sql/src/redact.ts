import { identify } from './identify.js';
import { isObjectKind, isRightKind } from './kinds.js';
import { isQuoted, keywordOf, significantTokens, type Token, TokenReader, unquote } from './tokens.js';

/** Words that a secret follows: `WITH PASSWORD 'x'`, `DROP TOKEN TYPE REST 'x'`. */
const CREDENTIAL_WORDS = new Set(['PASSWORD', 'TOKEN', 'JWK']);
/** Words that may come between such a word and its secret. */
const CONNECTORS = new Set(['=', ':', 'IS', 'TO', 'TYPE', 'REST']);
/** Words that may follow instead of a secret: `GRANT ADD PASSWORD TO`, `CREATE TOKEN TYPE REST WITH TTL`. */
const WORDS_INSTEAD_OF_SECRET = new Set(['WITH', 'TO', 'FROM', 'ON']);

/** If `isRest`, it is the complete rest of the statement, because nothing shows where in it the secret is. */
type Secret = Pick<Token, 'text' | 'start'> & { isRest?: boolean };

/** Replaces the secrets of a statement by stars. Positions stay the same unless `mask` changes the length. */
export function redact(statement: string, mask = (secret: string) => '*'.repeat(secret.length)): string {
  let redacted = '';
  let end = 0;
  for (const { text, start, isRest } of locateSecrets(statement)) {
    const masked = isRest ? mask(text) : text.replace(QUOTES, (_, open, inner, close) => open + mask(inner) + close);
    redacted += statement.slice(end, start) + masked;
    end = start + text.length;
  }
  return redacted + statement.slice(end);
}

/** Replaces the secrets of a statement so that their lengths do not show either. */
export const redactFully = (statement: string): string => redact(statement, () => '***');

/** Matches the opening quote if there is one, the text, and the closing quote. */
const QUOTES = /^(['"`]?)([^]*?)(\1?)$/;

/**
 * Finds the secrets of a statement, without quotes. `'it''s'` is returned as written and as `it's`. If the rest of the statement is
 * secret, its first words are returned too, because a server quotes the first word that it does not understand.
 */
export const findSecrets = (statement: string): string[] =>
  locateSecrets(statement).flatMap(({ text, isRest }) => (isRest ? [text, ...firstWords(text)] : withoutQuotes(text)));

const withoutQuotes = (text: string): string[] => [text.replace(QUOTES, '$2'), unquote(text.replace(QUOTES, '$1$2$1'))];

/** Limits the time to search a reply for all words. */
const MAX_WORDS = 100;

/** The words of a text, as SQL separates them and also as white space does. */
function firstWords(text: string): string[] {
  const words: string[] = [];
  for (const token of significantTokens(text)) {
    if (words.length >= MAX_WORDS) break;
    if (token.type !== 'punctuation') words.push(...withoutQuotes(token.text));
  }
  const chunks = text.slice(0, MAX_WORDS * MAX_WORDS).split(/\s+/, MAX_WORDS);
  return [...words, ...chunks].filter(word => /[\p{L}\p{N}]/u.test(word));
}

/** The CREATE of an object has no secrets. The results do not overlap: all of them together are no longer than the statement. */
function locateSecrets(statement: string): Secret[] {
  if (!/password|token|jwk|user|account/i.test(statement)) return [];
  const { kind } = identify(statement);
  if (isObjectKind(kind)) return [];
  const words = new TokenReader(significantTokens(statement));
  return !isRightKind(kind) && skipPrincipal(words)
    ? [...secretsOfPrincipal(statement, words)]
    : secretsAfterKeywords(statement, OBJECT_WORDS.has(words.word));
}

/** Verbs of statements that give no principal a secret, although `USER` may be their second word. */
const OTHER_VERBS = new Set('ADD ASSUME DROP EXIT GRANT INSERT REMOVE REVOKE SELECT SHOW UPDATE WITH'.split(' '));
const OBJECT_WORDS = new Set(['TABLE', 'VIEW', 'MATERIALIZED', 'LIVE']);

/** Reads up to the end of the principal's name; false if the statement creates or alters no principal. The verb may be misspelt. */
function skipPrincipal(words: TokenReader): boolean {
  const { word: verb } = words;
  words.next();
  words.accept('OR REPLACE');
  if (OTHER_VERBS.has(verb) || OBJECT_WORDS.has(words.word)) return false;
  if (verb === 'SET' && words.accept('PASSWORD FOR')) {
    words.readName();
    if (words.peek()?.text === '=') words.next();
    return true;
  }
  words.accept('SERVICE');
  const isPrincipal = ['USER', 'ACCOUNT', 'GROUP'].some(word => words.accept(word));
  if (!isPrincipal && verb !== 'CREATE' && verb !== 'ALTER') return false;
  if (!isPrincipal && (!words.word || CREDENTIAL_WORDS.has(words.word))) return true;
  if (!isPrincipal) words.next(); // `USER` misspelt
  for (const guard of ['IF NOT EXISTS', 'IF EXISTS']) words.accept(guard);
  if (isPrincipal || words.word) words.readName();
  return true;
}

/** Words after the name of a principal that are no secrets. The words `identified` and `set` are those of other databases. */
const HARMLESS_WORDS = new Set('WITH CREATE DROP ENABLE DISABLE REFRESH TYPE REST IDENTIFIED BY SET ;'.split(' '));

/**
 * Finds the secrets after the name of a principal. Quoted text is secret, except owners and aliases. The words of the grammar are shown.
 * A word before quoted text is shown too, because it may be a misspelt keyword. From any other word on, and after PASSWORD without
 * quotes, the complete rest is secret.
 */
function* secretsOfPrincipal(statement: string, words: TokenReader): Generator<Secret> {
  for (let token = words.peek(); token; token = words.peek()) {
    if (words.accept('OWNED BY')) words.readName();
    else if (words.accept('EXTERNAL ALIAS') || words.accept('TTL')) words.next();
    else if (words.accept('NO PASSWORD')) continue;
    else if (isQuoted(token)) yield words.next() as Token;
    else if (CREDENTIAL_WORDS.has(words.word)) {
      let last = words.next() as Token;
      while (CONNECTORS.has(words.peek()?.text.toUpperCase() ?? '')) last = words.next() as Token;
      const next = words.peek();
      if (!(next && (isQuoted(next) || words.word === 'WITH')))
        return yield* restOf(statement, next?.start ?? last.start + last.text.length);
    } else if (HARMLESS_WORDS.has(token.text.toUpperCase()) || isBeforeQuotes(words)) words.next();
    else return yield* restOf(statement, token.start);
  }
}

/** Whether a word, perhaps with a connector after it, is followed by quoted text. */
function isBeforeQuotes(words: TokenReader): boolean {
  let distance = 1;
  while (CONNECTORS.has(words.peek(distance)?.text.toUpperCase() ?? '') && distance < 3) distance++;
  const next = words.peek(distance);
  return words.word !== '' && next !== undefined && isQuoted(next);
}

/** The rest of a statement without its semicolon; comments are part of it. */
function* restOf(statement: string, from: number): Generator<Secret> {
  const [, before = ''] = /^(\s*)/.exec(statement.slice(from)) ?? [];
  const start = from + before.length;
  let end = statement.length;
  while (end > start && /[\s;]/.test(statement.charAt(end - 1))) end--;
  if (end > start) yield { text: statement.slice(start, end), start, isRest: true };
}

/** In other statements, text after PASSWORD, TOKEN or JWK is secret. If these may be columns of an object, only quoted text is secret. */
function secretsAfterKeywords(statement: string, isOfObject: boolean): Secret[] {
  const secrets: Secret[] = [];
  let end = 0;
  let isSecretNext = false;
  for (const token of significantTokens(statement)) {
    isSecretNext &&= !WORDS_INSTEAD_OF_SECRET.has(keywordOf(token));
    if (isSecretNext && CONNECTORS.has(token.text.toUpperCase())) continue;
    const { start } = token;
    const previous = secrets.at(-1);
    if (isSecretNext && (isQuoted(token) || (start >= end && !isOfObject))) {
      if (previous && start < end) previous.text = previous.text.slice(0, start - previous.start);
      const pattern = isQuoted(token) ? QUOTED_SECRET : BARE_SECRET;
      pattern.lastIndex = start;
      const text = pattern.exec(statement)?.[0] ?? '';
      if (text) secrets.push({ text, start });
      end = start + text.length;
    }
    isSecretNext = CREDENTIAL_WORDS.has(keywordOf(token));
  }
  return secrets;
}

/** A quoted secret may contain doubled quotes, and may lack its closing quote. */
const QUOTED_SECRET = /'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`(?:[^`]|``)*`?/y;
const BARE_SECRET = /[^\s;),]+/y;
