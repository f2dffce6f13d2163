import { isSimilar } from '@sqlpipe/text';
import { identify } from './identify.js';
import { isObjectKind, isRightKind } from './kinds.js';
import { isQuoted, keywordOf, significantTokens, type Token, TokenReader, unquote } from './tokens.js';

/** Words that a secret follows: `WITH PASSWORD 'x'`, `DROP TOKEN TYPE REST 'x'`. */
const CREDENTIAL_WORDS = new Set(['PASSWORD', 'TOKEN', 'JWK']);
/** Quoted text after these words is secret too, whatever is between them. */
const SIMILAR_WORDS = [...CREDENTIAL_WORDS, 'IDENTIFIED'];
/** Words that may come between such a word and its secret. */
const CONNECTORS = new Set(['=', ':', 'IS', 'TO', 'TYPE', 'REST']);
/** Words that may follow instead of a secret: `REVOKE ADD PASSWORD FROM`, `CREATE TOKEN TYPE REST WITH TTL`. */
const WORDS_INSTEAD_OF_SECRET = new Set(['WITH', 'FROM', 'ON']);

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
  const { kind } = identify(statement);
  if (isObjectKind(kind)) return [];
  const words = new TokenReader(significantTokens(statement));
  const { word: verb } = words;
  const isRight = isRightKind(kind);
  if (!isRight && skipPrincipal(words, statement)) return [...secretsOfPrincipal(statement, words)];
  const isOfObject = isSimilar(words.word, OBJECT_WORDS);
  return secretsAfterKeywords(statement, isOfObject, isRight || isOfObject, isOfObject || OTHER_VERBS.has(verb));
}

/** Verbs of statements that give no principal a secret, although `USER` may be their second word. */
const OTHER_VERBS = new Set('ADD ASSUME DROP EXIT GRANT INSERT REMOVE REVOKE SELECT SHOW UPDATE WITH'.split(' '));
const OBJECT_WORDS = ['TABLE', 'VIEW', 'MATERIALIZED', 'LIVE'];
const PRINCIPAL_WORDS = ['USER', 'ACCOUNT', 'GROUP'];

/** Reads up to the end of the principal's name; false if the statement creates or alters no principal. Words may be misspelt. */
function skipPrincipal(words: TokenReader, statement: string): boolean {
  const { word: verb } = words;
  words.next();
  words.accept('OR REPLACE');
  if (OTHER_VERBS.has(verb) || isSimilar(words.word, OBJECT_WORDS)) return false;
  if (verb === 'SET' && isSimilar(words.word, ['PASSWORD'])) {
    words.next();
    if (words.accept('FOR')) words.readName();
    skipConnectors(words);
    return true;
  }
  if (isSimilar(words.word, ['SERVICE'])) words.next();
  const isPrincipal = isSimilar(words.word, PRINCIPAL_WORDS);
  const mayBePrincipal = (verb === 'CREATE' || verb === 'ALTER') && /password|token|jwk|user|account/i.test(statement);
  if (!isPrincipal && !mayBePrincipal) return false;
  if (!isPrincipal && (!words.word || isSimilar(words.word, SIMILAR_WORDS))) return true;
  words.next();
  for (const guard of ['IF NOT EXISTS', 'IF EXISTS']) words.accept(guard);
  if (isPrincipal || words.word) words.readName();
  return true;
}

/** Returns the last connector. */
function skipConnectors(words: TokenReader): Token | undefined {
  let last: Token | undefined;
  while (CONNECTORS.has(words.peek()?.text.toUpperCase() ?? '')) last = words.next();
  return last;
}

/** Words after the name of a principal that are no secrets. The words `identified` and `set` are those of other databases. */
const HARMLESS_WORDS = new Set('WITH CREATE DROP ENABLE DISABLE REFRESH TYPE REST IDENTIFIED BY SET ;'.split(' '));

/**
 * Finds the secrets after the name of a principal. Quoted text is secret, except owners and aliases. The words of the grammar are shown.
 * A first word before quoted text is shown too, because it may be a misspelt keyword. From any other word on, and after PASSWORD without
 * quotes, the complete rest is secret.
 */
function* secretsOfPrincipal(statement: string, words: TokenReader): Generator<Secret> {
  let isAfterKeyword = false;
  for (let token = words.peek(); token; token = words.peek()) {
    if (words.accept('OWNED BY')) words.readName();
    else if (words.accept('EXTERNAL ALIAS') || words.accept('TTL')) words.next();
    else if (words.accept('NO PASSWORD')) continue;
    else if (isQuoted(token)) yield words.next() as Token;
    else if (CREDENTIAL_WORDS.has(words.word)) {
      isAfterKeyword = true;
      words.next();
      const last = skipConnectors(words) ?? token;
      const next = words.peek();
      if (!(next && (isQuoted(next) || words.word === 'WITH')))
        return yield* restOf(statement, next?.start ?? last.start + last.text.length);
    } else if (HARMLESS_WORDS.has(token.text.toUpperCase()) || (!isAfterKeyword && isBeforeQuotes(words))) words.next();
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

/**
 * In other statements, text after PASSWORD, TOKEN or JWK is secret. If these may be columns of an object, only quoted text is secret. So is
 * it after a misspelt word: of an object the next token, of a known verb all up to a comma, else all.
 */
function secretsAfterKeywords(statement: string, isOfObject: boolean, hasName: boolean, isKnown: boolean): Secret[] {
  const secrets: Secret[] = [];
  let end = 0;
  let isSecretNext = false;
  let areQuotesSecret = false;
  let isNameNext = hasName;
  for (const token of significantTokens(statement)) {
    const word = keywordOf(token);
    const isInstead = word === 'TO' ? isNameNext : WORDS_INSTEAD_OF_SECRET.has(word);
    isNameNext &&= word !== 'TO'; // only the first
    isSecretNext &&= !isInstead;
    areQuotesSecret &&= !(isInstead && isKnown && word !== 'WITH');
    if ((isSecretNext || areQuotesSecret) && CONNECTORS.has(token.text.toUpperCase())) continue;
    const { start } = token;
    const previous = secrets.at(-1);
    if (isQuoted(token) ? areQuotesSecret : isSecretNext && start >= end && !isOfObject) {
      if (previous && start < end) previous.text = previous.text.slice(0, start - previous.start);
      const pattern = isQuoted(token) ? QUOTED_SECRET : BARE_SECRET;
      pattern.lastIndex = start;
      const text = pattern.exec(statement)?.[0] ?? '';
      if (text) secrets.push({ text, start });
      end = start + text.length;
    }
    isSecretNext = CREDENTIAL_WORDS.has(word);
    areQuotesSecret &&= !isOfObject && !(isKnown && token.text === ',');
    areQuotesSecret ||= isSimilar(word, SIMILAR_WORDS);
  }
  return secrets;
}

/** A quoted secret may contain doubled quotes, and may lack its closing quote. */
const QUOTED_SECRET = /'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`(?:[^`]|``)*`?/y;
const BARE_SECRET = /[^\s;),]+/y;
