import { emptyTokenAt, foldCase, scanSignificant } from '@sqlpipe/sql';
import { type Cursor, isWord, RejectionError } from '../parser/cursor.js';
import { parseLiteral, quoteName } from '../parser/names.js';
import { parseInt64 } from '../parser/numbers.js';
import { defineProperty } from '../property.js';
import { normalizeQuery } from '../queries/query-tokens.js';

export const EXPIRE_ROWS = defineProperty<
  { readonly expire?: string | undefined },
  /** `expire` is undefined for DROP EXPIRE. */
  { readonly action: 'expire rows'; readonly expire: string | undefined }
>()({
  name: 'expiry of rows',
  value: ({ expire }) => normalizeRule(expire) ?? 'none',
  words: ['expire'],
  feature: 'EXPIRE ROWS',
  parse: ({ cursor }) => ({ expire: parseExpireRows(cursor) }),
  print: ({ expire }) => (expire === undefined ? '' : ` EXPIRE ROWS ${expire}`),
  features: [{ name: 'EXPIRE ROWS', pattern: /\bexpire\b/i, isIn: ({ expire }) => expire !== undefined }],
  alter: {
    actions: ['expire rows'],
    sets: ['expiry of rows'],
    changesExpiry: true,
    syntax: {
      'set expire': cursor => ({ action: 'expire rows', expire: parseExpireRows(cursor) }),
      drop(cursor) {
        cursor.expect('expire');
        return { action: 'expire rows', expire: undefined };
      },
    },
    print: ({ expire }) => (expire === undefined ? 'DROP EXPIRE' : `SET EXPIRE ROWS ${expire}`),
    permissions: ['ALTER MATERIALIZED VIEW'],
    between: ({ expire }, { expire: current }) =>
      normalizeRule(expire) === normalizeRule(current) ? undefined : { action: 'expire rows', expire },
  },
});

/** The form in which rules are compared. Names get lower case, but intervals do not: `1M` is a month, `1m` a minute. */
export const normalizeRule = (rule: string | undefined): string | undefined =>
  rule?.startsWith('WHEN ')
    ? `WHEN ${normalizeQuery(rule.slice(5))}`
    : rule?.replace(/^.*?(?= CLEANUP EVERY \w+$|$)/s, foldCase);

/** Parses `ROWS WHEN …` or `ROWS KEEP …` after EXPIRE, and an optional CLEANUP EVERY. @returns the rule as it is printed */
function parseExpireRows(cursor: Cursor): string {
  cursor.expect('rows');
  const token = cursor.require("'when' or 'keep'");
  if (!isWord(token, 'when') && !isWord(token, 'keep')) throw cursor.error("'when' or 'keep' expected");
  const rule = isWord(token, 'when') ? parsePredicate(cursor) : parseKeep(cursor);
  if (!cursor.accept('cleanup')) return rule;
  cursor.expect('every');
  return `${rule} CLEANUP EVERY ${cursor.require('duration')}`;
}

/** Reads the predicate after WHEN, up to the next clause. @returns WHEN and the predicate as written */
function parsePredicate(cursor: Cursor): string {
  const start = cursor.nextStart;
  cursor.skipTo(
    token => token === ';' || ['cleanup', 'owned', 'in'].some(word => isWord(token, word) && endsHere(cursor, word)),
  );
  const end = cursor.previousEnd;
  cursor.unread();
  const predicate = cursor.text.slice(start, end).trim();
  if (predicate === '') throw new RejectionError(end, 'predicate expected');
  return `WHEN ${predicate}`;
}

/** Whether a word starts the next clause. IN does so only before VOLUME: the IN of `x IN (1, 2)` belongs to the predicate. */
const endsHere = (cursor: Cursor, word: string): boolean =>
  word !== 'in' || isWord(scanSignificant(cursor.text, emptyTokenAt(cursor.end)).text, 'volume');

function parseKeep(cursor: Cursor): string {
  const token = cursor.require("'latest', 'highest', 'lowest' or a row count");
  if (isWord(token, 'latest')) {
    const on = cursor.accept('on') ? ` ON ${parseQuotedColumn(cursor)}` : '';
    return `KEEP LATEST${on}${parsePartitionKeys(cursor)}`;
  }
  const count = parseInt64(token);
  const order = count === undefined ? token : cursor.require("'highest' or 'lowest'");
  if (!isWord(order, 'highest') && !isWord(order, 'lowest'))
    throw cursor.error(
      count === undefined ? "'latest', 'highest', 'lowest' or a row count expected" : "'highest' or 'lowest' expected",
    );
  const rows = count === undefined ? '' : ` ${count}`;
  return `KEEP${rows} ${order.toUpperCase()} ${parseQuotedColumn(cursor)}${parsePartitionKeys(cursor)}`;
}

function parsePartitionKeys(cursor: Cursor): string {
  if (!cursor.accept('partition')) return '';
  cursor.expect('by');
  const keys = [parseQuotedColumn(cursor)];
  while (cursor.accept(',')) keys.push(parseQuotedColumn(cursor));
  return ` PARTITION BY ${keys.join(', ')}`;
}

const parseQuotedColumn = (cursor: Cursor): string => quoteName(parseLiteral(cursor).name);
