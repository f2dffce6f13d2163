/*! REFRESH of a materialized view: when, how often, over which period. */
import type { Cursor } from './cursor.js';
import { is } from './cursor.js';
import { unquote } from './names.js';
import { parseInt32 } from './numbers.js';
import { Rejection, unexpected } from './rejection.js';
import { parseTimestamp } from './timestamp.js';

export interface RefreshClause {
  readonly type: 'IMMEDIATE' | 'MANUAL' | 'EVERY';
  readonly deferred: boolean;
  readonly every?: string | undefined;
  /** An ISO timestamp; EVERY without one starts at the moment of creation. */
  readonly start?: string | undefined;
  readonly timeZone?: string | undefined;
  /** The period's length, or that it is the query's sampling interval. */
  readonly period?: { readonly length: string; readonly delay?: string | undefined } | 'sample by interval' | undefined;
}

/** REFRESH, where the token says so, and the token after it. */
export function refreshClause(
  cursor: Cursor,
  first: string,
  next: Next = expected => cursor.require(expected),
): { clause: RefreshClause; token: string } {
  if (!is(first, 'refresh')) return { clause: { type: 'IMMEDIATE', deferred: false }, token: first };
  let { type, every, token } = howOften(cursor, next);
  const deferred = is(token, 'deferred');
  if (deferred) token = next(type === 'EVERY' ? "'start' or 'period' or 'as'" : "'period' or 'as'");
  const head = { type, deferred, every };
  if (is(token, 'period')) return period(cursor, head, next);
  return type === 'EVERY' ? timer(cursor, head, token, next) : { clause: head, token };
}

/** The refresh that ALTER … SET REFRESH asks for, to the end of the statement; undefined for LIMIT. */
export function newRefresh(cursor: Cursor): RefreshClause | undefined {
  const choices = "'immediate' or 'manual' or 'period' or 'every' or 'limit'";
  const first = cursor.need(choices);
  if (is(first, 'limit')) return;
  if (!['immediate', 'manual', 'every', 'period'].includes(first.toLowerCase())) {
    throw new Rejection(cursor.at, `${choices} expected`);
  }
  cursor.back();
  const { clause, token: rest } = refreshClause(cursor, 'refresh', () => {
    const token = cursor.next();
    if (is(token, 'deferred')) throw unexpected(cursor.at, 'deferred');
    return token === undefined || token === ';' ? 'as' : token;
  });
  if (!is(rest, 'as')) throw unexpected(cursor.at, rest);
  if (clause.timeZone !== undefined && !isTimeZone(clause.timeZone)) {
    throw new Rejection(cursor.at, `invalid timezone: ${clause.timeZone}`);
  }
  return clause;
}

/** How to get at the token after a clause: in CREATE it must be there, at the end of ALTER it reads as AS. */
type Next = (expected: string) => string;

type Head = Pick<RefreshClause, 'type' | 'deferred' | 'every'>;

function howOften(
  cursor: Cursor,
  next: Next,
): { type: RefreshClause['type']; every?: string | undefined; token: string } {
  const token = cursor.require("'immediate' or 'manual' or 'period' or 'every' or 'as'");
  // INCREMENTAL is the old word for IMMEDIATE.
  if (is(token, 'incremental')) return { type: 'IMMEDIATE', token: next("'as'") };
  if (is(token, 'immediate')) return { type: 'IMMEDIATE', token: next("'deferred' or 'period' or 'as'") };
  if (is(token, 'manual')) return { type: 'MANUAL', token: next("'deferred' or 'period' or 'as'") };
  if (!is(token, 'every')) return { type: 'IMMEDIATE', token };
  const every = stride(cursor, cursor.require('interval'));
  if (!'Mywdhm'.includes(every.unit)) {
    throw new Rejection(
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

/** `START '…' [TIME ZONE '…']`, if it is there. */
function timer(cursor: Cursor, head: Head, first: string, next: Next): { clause: RefreshClause; token: string } {
  if (!is(first, 'start')) return { clause: head, token: first };
  const text = cursor.require('START timestamp');
  const start = parseTimestamp(unquote(text));
  if (!start) throw new Rejection(cursor.at, 'invalid START timestamp value');
  let token = next("'time zone' or 'as'");
  let timeZone: string | undefined;
  if (is(token, 'time')) {
    cursor.expect('zone');
    timeZone = unquote(cursor.require('TIME ZONE name'));
    token = next("'as'");
  }
  return { clause: { ...head, start, timeZone }, token };
}

function period(cursor: Cursor, head: Head, next: Next): { clause: RefreshClause; token: string } {
  cursor.expect('(');
  let token = cursor.require("'length' or 'sample'");
  let clause: RefreshClause;
  if (is(token, 'length')) ({ clause, token } = periodLength(cursor, head));
  else if (is(token, 'sample')) {
    cursor.expect('by');
    cursor.expect('interval');
    token = cursor.require("')'");
    clause = { ...head, period: 'sample by interval' };
  } else throw new Rejection(cursor.at, "'length' or 'sample' expected");
  if (token !== ')') throw new Rejection(cursor.at, "')' expected");
  return { clause, token: next("'as'") };
}

function periodLength(cursor: Cursor, head: Head): { clause: RefreshClause; token: string } {
  const length = stride(cursor, cursor.require('LENGTH interval'));
  rejectLongPeriod(length, cursor.at);
  let token = cursor.require("'time zone' or 'delay' or ')'");
  let timeZone: string | undefined;
  if (is(token, 'time')) {
    timeZone = periodTimeZone(cursor);
    token = cursor.require("'delay' or ')'");
  }
  let delay: Stride | undefined;
  if (is(token, 'delay')) {
    delay = stride(cursor, cursor.require('DELAY interval'));
    if (seconds(delay, 'delay', cursor.at) >= seconds(length, 'length', cursor.at)) {
      throw new Rejection(cursor.at, 'delay cannot be equal to or greater than length');
    }
    token = cursor.require("')'");
  }
  const period = { length: length.count + length.unit, delay: delay && delay.count + delay.unit };
  return { clause: { ...head, timeZone, period }, token };
}

function periodTimeZone(cursor: Cursor): string {
  cursor.expect('zone');
  const token = cursor.require('TIME ZONE name');
  if (token === ')' || is(token, 'delay')) throw new Rejection(cursor.at, 'TIME ZONE name expected');
  const timeZone = unquote(token);
  if (!isTimeZone(timeZone)) throw new Rejection(cursor.at, `invalid timezone: ${timeZone}`);
  return timeZone;
}

/** An IANA name or an offset such as `+01:00`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return /^(?:GMT|UTC)?[-+]\d\d(?::?\d\d)?$/i.test(name);
  }
}

export interface Stride {
  readonly count: number;
  readonly unit: string;
}

/** `10m`: a number that may be left out, and a unit. */
function stride(cursor: Cursor, text: string): Stride {
  if (text === '-') throw new Rejection(cursor.at, `positive number expected: ${text}`);
  const count = text.length > 1 ? parseInt32(text.slice(0, -1)) : 1;
  if (count !== undefined && count <= 0) throw new Rejection(cursor.at, `positive number expected: ${text}`);
  const unit = text.slice(-1);
  if (!'MywdhmsTUn'.includes(unit)) throw new Rejection(cursor.at, `Invalid unit: ${text}`);
  return { count: count ?? 1, unit };
}

const secondsIn: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86400 };

function seconds({ count, unit }: Stride, what: string, position: number): number {
  const factor = secondsIn[unit];
  if (factor) return count * factor;
  throw new Rejection(position, `unsupported ${what} unit: ${count}${unit}, supported units are 's', 'm', 'h', 'd'`);
}

/** A period is a day at most. */
export function rejectLongPeriod(length: Stride, position: number): void {
  if (seconds(length, 'length', position) <= 86400) return;
  throw new Rejection(position, `maximum supported length interval is 24 hours: ${length.count}${length.unit}`);
}
