/*! Text as it may be shown: without the secrets that a statement holds. */
import { meaningful, type Token, unquote } from '@sqlpipe/sql';

/** Words that a secret follows: `WITH PASSWORD 'x'`, `REST TOKEN 'x'`. */
const BEFORE_SECRET = new Set(['PASSWORD', 'TOKEN']);

/** A text that may quote from a statement, with the statement's secrets starred out and all else where it was. */
export function conceal(text: string, statement: string): string {
  return secretsOf(statement).reduce((shown, secret) => shown.replaceAll(secret, '*'.repeat(secret.length)), text);
}

/** The words behind those, `=` or not between; one with a doubled quote in it comes as two tokens side by side. */
function secretsOf(statement: string): string[] {
  if (!/password|token/i.test(statement)) return [];
  const tokens = [...meaningful(statement)];
  return tokens.flatMap(({ text }, i) => {
    if (!BEFORE_SECRET.has(text.toUpperCase())) return [];
    const first = tokens[i + 1]?.text === '=' ? i + 2 : i + 1;
    const words = tokens.slice(first);
    const end = words.findIndex(({ type, start }, k) => type === 'sign' || (k > 0 && start !== endOf(words[k - 1])));
    return words
      .slice(0, end < 0 ? undefined : end)
      .map(word => unquote(word.text))
      .filter(Boolean);
  });
}

const endOf = (token?: Token): number => (token ? token.start + token.text.length : 0);
