/*!
 * EXPIRE ROWS of a materialized view, which versions after 10.0 have: which rows are removed. It is read as far as its parts tell it from
 * the clauses after it, and kept as text.
 */
import { type Cursor, isWord } from '../grammar/cursor.js';
import { parseLiteral } from '../grammar/names.js';
import { parseInt64 } from '../grammar/numbers.js';
import { RejectionError } from '../grammar/rejection-error.js';
import { property } from '../property.js';

export const EXPIRY = property<
  { readonly expire?: string | undefined },
  /** The text after EXPIRE ROWS; if undefined, rows expire no longer. */
  { readonly action: 'expiry'; readonly expire: string | undefined }
>({
  name: 'expiry of rows',
  value: ({ expire }) => expire ?? 'none',
  parse(reader) {
    if (!reader.context.has('EXPIRE ROWS') || !reader.begins('expire')) return undefined;
    return { expire: parseExpireRows(reader.cursor) };
  },
  print: ({ expire }) => (expire === undefined ? '' : ` EXPIRE ROWS ${expire}`),
  feature: { name: 'EXPIRE ROWS', word: /\bexpire\b/i, isIn: ({ expire }) => expire !== undefined },
  alter: {
    actions: ['expiry'],
    sets: ['expiry of rows'],
    expiresRows: true,
    isKnown: ({ has }) => has('EXPIRE ROWS'),
    syntax: {
      'set expire': cursor => ({ action: 'expiry', expire: parseExpireRows(cursor) }),
      drop(cursor) {
        cursor.expect('expire');
        return { action: 'expiry', expire: undefined };
      },
    },
    print: ({ expire }) => (expire === undefined ? 'DROP EXPIRE' : `SET EXPIRE ROWS ${expire}`),
    permission: () => 'ALTER MATERIALIZED VIEW',
    find: ({ expire }, now) => (expire === now.expire ? undefined : { action: 'expiry', expire }),
  },
});

/** Parses `ROWS WHEN …` or `ROWS KEEP …` after EXPIRE, with CLEANUP EVERY. Returns the text after ROWS. */
function parseExpireRows(cursor: Cursor): string {
  cursor.expect('rows');
  const token = cursor.require("'when' or 'keep'");
  if (!isWord(token, 'when') && !isWord(token, 'keep')) throw cursor.error("'when' or 'keep' expected");
  const rule = isWord(token, 'when') ? parsePredicate(cursor) : parseKeep(cursor);
  if (!cursor.accept('cleanup')) return rule;
  cursor.expect('every');
  return `${rule} CLEANUP EVERY ${cursor.require('duration')}`;
}

/** The predicate as it is written, up to the next clause. */
function parsePredicate(cursor: Cursor): string {
  const start = cursor.nextOffset;
  let end = start;
  let depth = 0;
  for (let token = cursor.next(); token !== undefined; token = cursor.next()) {
    if (
      depth === 0 &&
      (token === ';' || ['cleanup', 'owned', 'in'].some(word => isWord(token, word) && endsHere(cursor, word)))
    ) {
      cursor.unread();
      break;
    }
    if (token === '(') depth++;
    if (token === ')') depth--;
    end = cursor.end;
  }
  const predicate = cursor.text.slice(start, end).trim();
  if (predicate === '') throw new RejectionError(end, 'predicate expected');
  return `WHEN ${predicate}`;
}

/** Whether a word starts a clause: `x IN (1, 2)` goes on. */
const endsHere = (cursor: Cursor, word: string): boolean =>
  word !== 'in' || /^\s+volume\b/i.test(cursor.text.slice(cursor.end));

function parseKeep(cursor: Cursor): string {
  const token = cursor.require("'latest', 'highest', 'lowest' or a row count");
  if (isWord(token, 'latest')) {
    const on = cursor.accept('on') ? ` ON ${parseLiteral(cursor).name}` : '';
    return `KEEP LATEST${on}${parseKeys(cursor)}`;
  }
  const count = parseInt64(token);
  const order = count === undefined ? token : cursor.require("'highest' or 'lowest'");
  if (!isWord(order, 'highest') && !isWord(order, 'lowest'))
    throw cursor.error(
      count === undefined ? "'latest', 'highest', 'lowest' or a row count expected" : "'highest' or 'lowest' expected",
    );
  const rows = count === undefined ? '' : ` ${count}`;
  return `KEEP${rows} ${order.toUpperCase()} ${parseLiteral(cursor).name}${parseKeys(cursor)}`;
}

function parseKeys(cursor: Cursor): string {
  if (!cursor.accept('partition')) return '';
  cursor.expect('by');
  const keys = [parseLiteral(cursor).name];
  while (cursor.accept(',')) keys.push(parseLiteral(cursor).name);
  return ` PARTITION BY ${keys.join(', ')}`;
}
