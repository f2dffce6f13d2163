/*! Text as it may be shown: without the secrets that a statement holds. */
import { meaningful, unquote } from '@sqlpipe/sql';

/** Words that a secret follows: `WITH PASSWORD 'x'`, `REST TOKEN 'x'`. */
const BEFORE_SECRET = new Set(['PASSWORD', 'TOKEN']);

/** A text that may quote from a statement, with the statement's secrets starred out and all else where it was. */
export function conceal(text: string, statement: string): string {
  return secretsOf(statement).reduce((shown, secret) => shown.replaceAll(secret, '*'.repeat(secret.length)), text);
}

function secretsOf(statement: string): string[] {
  if (!/password|token/i.test(statement)) return [];
  const tokens = [...meaningful(statement)];
  return tokens
    .filter((_, i) => BEFORE_SECRET.has(tokens[i - 1]?.text.toUpperCase() ?? ''))
    .map(token => unquote(token.text))
    .filter(Boolean);
}
