/*! Statements as they may be shown: without the secrets they hold. */
import { meaningful } from '@sqlpipe/sql';

/** Words that a secret follows: `WITH PASSWORD 'x'`, `REST TOKEN 'x'`. */
const BEFORE_SECRET = new Set(['PASSWORD', 'TOKEN']);

/** The statement with its secrets starred out, every other character where it was. */
export function conceal(statement: string): string {
  if (!/password|token/i.test(statement)) return statement;
  let shown = statement;
  let before = '';
  for (const { text, start } of meaningful(statement)) {
    if (BEFORE_SECRET.has(before))
      shown = shown.slice(0, start) + '*'.repeat(text.length) + shown.slice(start + text.length);
    before = text.toUpperCase();
  }
  return shown;
}
