/*!
 * EXPIRE ROWS of a materialized view, which versions after 10.0 have: which rows are removed. It is
 * read as far as its parts tell it from the clauses after it, and kept as text.
 */
import { type Cursor, isWord } from './cursor.js';
import { parseLiteral } from './names.js';
import { parseInt64 } from './numbers.js';
import { RejectionError } from './rejection-error.js';

/** Parses `ROWS WHEN …` or `ROWS KEEP …` after EXPIRE, with CLEANUP EVERY. Returns the text after ROWS. */
export function parseExpireRows(cursor: Cursor): string {
  cursor.expect('rows');
  const token = cursor.require("'when' or 'keep'");
  if (!isWord(token, 'when') && !isWord(token, 'keep')) throw cursor.rejection("'when' or 'keep' expected");
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
    throw cursor.rejection(
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
