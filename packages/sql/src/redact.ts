import { identify } from './identify.js';
import { isObject } from './kinds.js';
import { keywordOf, significantTokens, type Token, unquote } from './tokens.js';

/** Words that a secret follows: `WITH PASSWORD 'x'`, `DROP TOKEN TYPE REST 'x'`. */
const BEFORE_SECRET = new Set(['PASSWORD', 'TOKEN']);
/** Words that may come between such a word and its secret. */
const BETWEEN = new Set(['=', 'TYPE', 'REST']);
/** Words that may follow instead of a secret: `GRANT ADD PASSWORD TO`, `CREATE TOKEN TYPE REST WITH TTL`. */
const NO_SECRET = new Set(['WITH', 'TO', 'FROM', 'ON']);

/** Replaces the secrets of a statement by stars. Positions stay the same unless `mask` changes the length. */
export function redact(statement: string, mask = (secret: string) => '*'.repeat(secret.length)): string {
  let redacted = '';
  let end = 0;
  for (const { text, start } of locateSecrets(statement)) {
    const stars = text.replace(QUOTES, (_, open, inner, close) => open + mask(inner) + close);
    redacted += statement.slice(end, start) + stars;
    end = start + text.length;
  }
  return redacted + statement.slice(end);
}

/** Replaces the secrets of a statement so that their lengths do not show either. */
export const redactFully = (statement: string): string => redact(statement, () => '***');

/** Matches the opening quote if there is one, the text, and the closing quote. */
const QUOTES = /^(['"`]?)([^]*?)(\1?)$/;

/** Finds the secrets of a statement, without quotes. Each is returned twice: as written, and with doubled quotes made single. */
export const findSecrets = (statement: string): string[] =>
  locateSecrets(statement).flatMap(({ text }) => [text.replace(QUOTES, '$2'), unquote(text.replace(QUOTES, '$1$2$1'))]);

/** The CREATE of an object has no secrets. The results do not overlap, because together they could exceed the length of a string. */
function locateSecrets(statement: string): Pick<Token, 'text' | 'start'>[] {
  if (!/password|token/i.test(statement) || isObject(identify(statement).kind)) return [];
  const secrets: Pick<Token, 'text' | 'start'>[] = [];
  let end = 0;
  let isSecretNext = false;
  for (const token of significantTokens(statement)) {
    if (isSecretNext && BETWEEN.has(token.text.toUpperCase())) continue;
    const { start } = token;
    const previous = secrets.at(-1);
    if (isSecretNext && !NO_SECRET.has(keywordOf(token)) && (start >= end || isQuoted(token))) {
      if (previous && start < end) previous.text = previous.text.slice(0, start - previous.start);
      const text = secretAt(statement, token);
      if (text) secrets.push({ text, start });
      end = start + text.length;
    }
    isSecretNext = BEFORE_SECRET.has(keywordOf(token));
  }
  return secrets;
}

const isQuoted = ({ type }: Token): boolean => type === 'string' || type === 'name';

/** The secret that starts with a token. A quoted secret may contain doubled quotes, and may lack its closing quote. */
function secretAt(statement: string, token: Token): string {
  const pattern = isQuoted(token) ? QUOTED : BARE;
  pattern.lastIndex = token.start;
  return pattern.exec(statement)?.[0] ?? '';
}

const QUOTED = /'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`(?:[^`]|``)*`?/y;
const BARE = /[^\s;),]+/y;
