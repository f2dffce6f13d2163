/*! Text as it may be shown: without the secrets that a statement holds. */
import { meaningful, type Token } from './tokens.js';

/** Words that a secret follows: `WITH PASSWORD 'x'`, `REST TOKEN 'x'`. */
const BEFORE_SECRET = new Set(['PASSWORD', 'TOKEN']);

/** A text that may quote from a statement, with the statement's secrets starred out and all else where it was. */
export function conceal(text: string, statement: string): string {
  return starOut(text, secretsOf(statement));
}

/** A text with stars in place of the secrets, also where they are written as URLs, JSON or HTML have it. */
export const starOut = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((shown, secret) => shown.replace(anyForm(secret), found => '*'.repeat(found.length)), text);

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
      .map(word => word.text.replace(/^['"`]|['"`]$/g, '')) // a text may end within quotes
      .filter(Boolean);
  });
}

const endOf = (token?: Token): number => (token ? token.start + token.text.length : 0);

const anyForm = (secret: string): RegExp => new RegExp(Array.from(secret, formsOf).join(''), 'gi');

const NAMED: Record<string, string> = {
  '"': '&quot;|',
  '&': '&amp;|',
  "'": '&apos;|',
  '<': '&lt;|',
  '>': '&gt;|',
  ' ': '\\+|',
};

/** A pattern for one character: percent-encoded, even twice, by its number or its name; or as it is, a backslash before it or not. */
function formsOf(character: string): string {
  const hex = (number: number, digits: number) => number.toString(16).padStart(digits, '0');
  const bytes = Array.from(new TextEncoder().encode(character), byte => `%(?:25)*${hex(byte, 2)}`).join('');
  const units = Array.from({ length: character.length }, (_, i) => `\\\\u${hex(character.charCodeAt(i), 4)}`).join('');
  const code = character.codePointAt(0) ?? 0;
  const itself = `\\\\?${character.replace(/[^\p{L}\p{N}]/gu, '\\$&')}`;
  return `(?:${bytes}|${units}|&#0*${code};|&#x0*${hex(code, 1)};|${NAMED[character] ?? ''}${itself})`;
}
