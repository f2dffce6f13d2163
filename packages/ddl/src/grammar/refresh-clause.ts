/*! REFRESH of a materialized view: when, how often, for which period. */
import type { Cursor } from './cursor.js';
import { isWord } from './cursor.js';
import { unquote } from './names.js';
import { parseInt32 } from './numbers.js';
import { RejectionError, unexpectedTokenError } from './rejection-error.js';
import { parseTimestamp } from './timestamp.js';

export interface RefreshClause {
  readonly type: 'IMMEDIATE' | 'MANUAL' | 'EVERY';
  readonly deferred: boolean;
  readonly every?: string | undefined;
  /** An ISO timestamp; EVERY without one starts at the moment of creation. */
  readonly start?: string | undefined;
  readonly timeZone?: string | undefined;
  /** The period with its length, or that its length is the query's sampling interval. */
  readonly period?: { readonly length: string; readonly delay?: string | undefined } | 'sample by interval' | undefined;
}

/** Parses REFRESH if the token is that word. Returns the clause and the token after it. */
export function parseRefresh(
  cursor: Cursor,
  first: string,
  next: ReadNext = expected => cursor.require(expected),
): { clause: RefreshClause; token: string } {
  if (!isWord(first, 'refresh')) return { clause: { type: 'IMMEDIATE', deferred: false }, token: first };
  let { type, every, token } = parseHead(cursor, next);
  const deferred = isWord(token, 'deferred');
  if (deferred) token = next(type === 'EVERY' ? "'start' or 'period' or 'as'" : "'period' or 'as'");
  const head = { type, deferred, every };
  if (isWord(token, 'period')) return parsePeriod(cursor, head, next);
  return type === 'EVERY' ? parseStart(cursor, head, token, next) : { clause: head, token };
}

/** Parses ALTER … SET REFRESH after REFRESH, up to the end of the statement; undefined for REFRESH LIMIT. */
export function parseSetRefresh(cursor: Cursor): RefreshClause | undefined {
  const choices = "'immediate' or 'manual' or 'period' or 'every' or 'limit'";
  const first = cursor.requireNoSemicolon(choices);
  if (isWord(first, 'limit')) return;
  if (!['immediate', 'manual', 'every', 'period'].includes(first.toLowerCase())) {
    throw new RejectionError(cursor.at, `${choices} expected`);
  }
  cursor.unread();
  const { clause, token: rest } = parseRefresh(cursor, 'refresh', () => {
    const token = cursor.next();
    if (isWord(token, 'deferred')) throw unexpectedTokenError(cursor.at, 'deferred');
    return token === undefined || token === ';' ? 'as' : token;
  });
  if (!isWord(rest, 'as')) throw unexpectedTokenError(cursor.at, rest);
  if (clause.timeZone !== undefined && !isTimeZone(clause.timeZone)) {
    throw new RejectionError(cursor.at, `invalid timezone: ${clause.timeZone}`);
  }
  return clause;
}

/** Reads the token after a clause. In CREATE the token is required; at the end of an ALTER the result is `as`. */
type ReadNext = (expected: string) => string;

type RefreshHead = Pick<RefreshClause, 'type' | 'deferred' | 'every'>;

function parseHead(
  cursor: Cursor,
  next: ReadNext,
): { type: RefreshClause['type']; every?: string | undefined; token: string } {
  const token = cursor.require("'immediate' or 'manual' or 'period' or 'every' or 'as'");
  // INCREMENTAL is the former name of IMMEDIATE.
  if (isWord(token, 'incremental')) return { type: 'IMMEDIATE', token: next("'as'") };
  if (isWord(token, 'immediate')) return { type: 'IMMEDIATE', token: next("'deferred' or 'period' or 'as'") };
  if (isWord(token, 'manual')) return { type: 'MANUAL', token: next("'deferred' or 'period' or 'as'") };
  if (!isWord(token, 'every')) return { type: 'IMMEDIATE', token };
  const every = parseInterval(cursor, cursor.require('interval'));
  if (!'Mywdhm'.includes(every.unit)) {
    throw new RejectionError(
      cursor.at,
      `unsupported interval unit: ${every.unit}, supported units are 'm', 'h', 'd', 'w', 'y', 'M'`,
    );
  }
  return {
    type: 'EVERY',
    every: every.count + every.unit,
    token: next("'deferred' or 'start' or 'period' or 'as'"),
  };
}

/** Parses `START '…' [TIME ZONE '…']` if it comes next. */
function parseStart(
  cursor: Cursor,
  head: RefreshHead,
  first: string,
  next: ReadNext,
): { clause: RefreshClause; token: string } {
  if (!isWord(first, 'start')) return { clause: head, token: first };
  const text = cursor.require('START timestamp');
  const start = parseTimestamp(unquote(text));
  if (!start) throw new RejectionError(cursor.at, 'invalid START timestamp value');
  let token = next("'time zone' or 'as'");
  let timeZone: string | undefined;
  if (isWord(token, 'time')) {
    cursor.expect('zone');
    timeZone = unquote(cursor.require('TIME ZONE name'));
    token = next("'as'");
  }
  return { clause: { ...head, start, timeZone }, token };
}

function parsePeriod(cursor: Cursor, head: RefreshHead, next: ReadNext): { clause: RefreshClause; token: string } {
  cursor.expect('(');
  let token = cursor.require("'length' or 'sample'");
  let clause: RefreshClause;
  if (isWord(token, 'length')) ({ clause, token } = parsePeriodLength(cursor, head));
  else if (isWord(token, 'sample')) {
    cursor.expect('by', 'interval');
    token = cursor.require("')'");
    clause = { ...head, period: 'sample by interval' };
  } else throw new RejectionError(cursor.at, "'length' or 'sample' expected");
  if (token !== ')') throw new RejectionError(cursor.at, "')' expected");
  return { clause, token: next("'as'") };
}

function parsePeriodLength(cursor: Cursor, head: RefreshHead): { clause: RefreshClause; token: string } {
  const length = parseInterval(cursor, cursor.require('LENGTH interval'));
  rejectLongPeriod(length, cursor.at);
  let token = cursor.require("'time zone' or 'delay' or ')'");
  let timeZone: string | undefined;
  if (isWord(token, 'time')) {
    timeZone = parsePeriodTimeZone(cursor);
    token = cursor.require("'delay' or ')'");
  }
  let delay: Interval | undefined;
  if (isWord(token, 'delay')) {
    delay = parseInterval(cursor, cursor.require('DELAY interval'));
    if (toSeconds(delay, 'delay', cursor.at) >= toSeconds(length, 'length', cursor.at)) {
      throw new RejectionError(cursor.at, 'delay cannot be equal to or greater than length');
    }
    token = cursor.require("')'");
  }
  const period = { length: length.count + length.unit, delay: delay && delay.count + delay.unit };
  return { clause: { ...head, timeZone, period }, token };
}

function parsePeriodTimeZone(cursor: Cursor): string {
  cursor.expect('zone');
  const token = cursor.require('TIME ZONE name');
  if (token === ')' || isWord(token, 'delay')) throw new RejectionError(cursor.at, 'TIME ZONE name expected');
  const timeZone = unquote(token);
  if (!isTimeZone(timeZone)) throw new RejectionError(cursor.at, `invalid timezone: ${timeZone}`);
  return timeZone;
}

/** Whether a text is the IANA name of a time zone, or an offset such as `+01:00`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return /^(?:GMT|UTC)?[-+]\d\d(?::?\d\d)?$/i.test(name);
  }
}

export interface Interval {
  readonly count: number;
  readonly unit: string;
}

/** Parses `10m`: a number, which is optional, and a unit. */
function parseInterval(cursor: Cursor, text: string): Interval {
  if (text === '-') throw new RejectionError(cursor.at, `positive number expected: ${text}`);
  const count = text.length > 1 ? parseInt32(text.slice(0, -1)) : 1;
  if (count !== undefined && count <= 0) throw new RejectionError(cursor.at, `positive number expected: ${text}`);
  const unit = text.slice(-1);
  if (!'MywdhmsTUn'.includes(unit)) throw new RejectionError(cursor.at, `Invalid unit: ${text}`);
  return { count: count ?? 1, unit };
}

const secondsIn: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86400 };

function toSeconds({ count, unit }: Interval, what: string, position: number): number {
  const factor = secondsIn[unit];
  if (factor) return count * factor;
  throw new RejectionError(
    position,
    `unsupported ${what} unit: ${count}${unit}, supported units are 's', 'm', 'h', 'd'`,
  );
}

/** Rejects a period of more than a day. */
export function rejectLongPeriod(length: Interval, position: number): void {
  if (toSeconds(length, 'length', position) <= 86400) return;
  throw new RejectionError(position, `maximum supported length interval is 24 hours: ${length.count}${length.unit}`);
}
