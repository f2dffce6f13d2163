import { foldCase } from '@sqlpipe/sql';
import type { MaterializedViewDefinition, Refresh } from '../definition.js';
import { type Cursor, isWord, RejectionError, unexpectedTokenError } from '../parser/cursor.js';
import { parseTableName, unquoteToken } from '../parser/names.js';
import { MICROS, MICROS_PER_DAY, parseInt32, parseTimestamp } from '../parser/numbers.js';
import { defineProperty } from '../property.js';
import { findSampling } from '../queries/query-columns.js';

/** Parses the clause after REFRESH, and reads the token after it. @param next reads the token after a part of the clause */
function parseRefresh(cursor: Cursor, next = (expected: string) => cursor.require(expected)): Refresh {
  let token = cursor.require("'immediate' or 'manual' or 'period' or 'every' or 'as'");
  // Without a word for it, the type is IMMEDIATE, and the token belongs to the next part.
  const type = isWord(token, 'manual') ? 'MANUAL' : isWord(token, 'every') ? 'EVERY' : 'IMMEDIATE';
  const every = type === 'EVERY' ? parseEvery(cursor) : undefined;
  if (type === 'EVERY') token = next("'deferred' or 'start' or 'period' or 'as'");
  else if (type === 'MANUAL' || isWord(token, 'immediate')) token = next("'deferred' or 'period' or 'as'");
  else if (isWord(token, 'incremental')) token = next("'as'"); // the former name of IMMEDIATE
  const deferred = isWord(token, 'deferred');
  if (deferred) token = next(type === 'EVERY' ? "'start' or 'period' or 'as'" : "'period' or 'as'");
  const head = { type, deferred, every } as const;
  if (isWord(token, 'period')) {
    const period = parsePeriod(cursor);
    next("'as'");
    return { ...head, ...period };
  }
  if (type !== 'EVERY' || !isWord(token, 'start')) return head;
  const start = parseTimestamp(unquoteToken(cursor.require('START timestamp')));
  if (!start) throw cursor.error('invalid START timestamp value');
  if (!isWord(next("'time zone' or 'as'"), 'time')) return { ...head, start, timeZone: undefined };
  cursor.expect('zone');
  const timeZone = unquoteToken(cursor.require('TIME ZONE name'));
  next("'as'");
  return { ...head, start, timeZone };
}

function parseEvery(cursor: Cursor): string {
  const every = parseInterval(cursor, 'interval');
  const unit = every.slice(-1);
  if ('Mywdhm'.includes(unit)) return every;
  throw cursor.error(`unsupported interval unit: ${unit}, supported units are 'm', 'h', 'd', 'w', 'y', 'M'`);
}

/** Parses the text after PERIOD. */
function parsePeriod(cursor: Cursor): Pick<Refresh, 'period' | 'timeZone'> {
  cursor.expect('(');
  const kind = cursor.require("'length' or 'sample'");
  if (isWord(kind, 'sample')) {
    cursor.expect('by', 'interval');
    cursor.expectToken(cursor.require("')'"), ')');
    return { period: 'sample by interval' };
  }
  if (!isWord(kind, 'length')) throw cursor.error("'length' or 'sample' expected");
  const length = parseInterval(cursor, 'LENGTH interval');
  rejectLongPeriod(length, cursor.start);
  let token = cursor.require("'time zone' or 'delay' or ')'");
  let timeZone: string | undefined;
  if (isWord(token, 'time')) {
    cursor.expect('zone');
    token = cursor.require('TIME ZONE name');
    if (token === ')' || isWord(token, 'delay')) throw cursor.error('TIME ZONE name expected');
    timeZone = unquoteToken(token);
    rejectInvalidTimeZone(timeZone, cursor.start);
    token = cursor.require("'delay' or ')'");
  }
  let delay: string | undefined;
  if (isWord(token, 'delay')) {
    delay = parseInterval(cursor, 'DELAY interval');
    if (toMicros(delay, 'delay', cursor.start) >= toMicros(length, 'length', cursor.start))
      throw cursor.error('delay cannot be equal to or greater than length');
    token = cursor.require("')'");
  }
  cursor.expectToken(token, ')');
  return { timeZone, period: { length, delay } };
}

/** Parses the clause after SET REFRESH, without DEFERRED. It ends with the statement or, as in CREATE, with AS. */
function parseSetRefresh(cursor: Cursor): Refresh {
  const choices = "'immediate' or 'manual' or 'period' or 'every' or 'limit'";
  const first = cursor.requireNoSemicolon(choices);
  if (!['immediate', 'manual', 'every', 'period'].includes(first.toLowerCase()))
    throw cursor.error(`${choices} expected`);
  cursor.unread();
  let last = ';'; // the token after the clause, which `parseRefresh` reads
  const refresh = parseRefresh(cursor, () => {
    last = cursor.next() ?? ';';
    if (isWord(last, 'deferred')) throw unexpectedTokenError(cursor.start, last);
    return last;
  });
  if (last !== ';' && !isWord(last, 'as')) throw unexpectedTokenError(cursor.start, last);
  rejectInvalidTimeZone(refresh.timeZone, cursor.start);
  return refresh;
}

/** Rejects a text that is neither the IANA name of a time zone nor an offset such as `+01:00`. */
export function rejectInvalidTimeZone(name: string | undefined, position: number): void {
  if (name === undefined || /^(?:GMT|UTC)?[-+]\d\d(?::?\d\d)?$/i.test(name)) return;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
  } catch {
    throw new RejectionError(position, `invalid timezone: ${name}`);
  }
}

/** Parses a number and a unit, such as `10m`. Text that is not a number counts as 1, as on the server (CommonUtils): `m`, `xm`. */
function parseInterval(cursor: Cursor, expected: string): string {
  const text = cursor.require(expected);
  if (text === '-') throw cursor.error(`positive number expected: ${text}`);
  const count = text.length > 1 ? parseInt32(text.slice(0, -1)) : 1;
  if (count !== undefined && count <= 0) throw cursor.error(`positive number expected: ${text}`);
  const unit = text.slice(-1);
  if (!'MywdhmsTUn'.includes(unit)) throw cursor.error(`Invalid unit: ${text}`);
  return `${count ?? 1}${unit}`;
}

function toMicros(interval: string, what: string, position: number): number {
  const factor = MICROS.get(interval.slice(-1));
  if (factor !== undefined) return Number.parseInt(interval, 10) * factor;
  throw new RejectionError(position, `unsupported ${what} unit: ${interval}, supported units are 's', 'm', 'h', 'd'`);
}

export function rejectLongPeriod(length: string, position: number): void {
  if (toMicros(length, 'length', position) <= MICROS_PER_DAY) return;
  throw new RejectionError(position, `maximum supported length interval is 24 hours: ${length}`);
}

export const BASE = defineProperty<Pick<MaterializedViewDefinition, 'base'>>()({
  name: 'base',
  value: ({ base }) => base && foldCase(base),
  words: ['with'],
  parse({ cursor }) {
    cursor.expect('base');
    return { base: parseTableName(cursor, 'base table').name };
  },
  print: ({ base }) => (base === undefined ? '' : ` WITH BASE '${base}'`),
});

type RefreshedView = Pick<MaterializedViewDefinition, 'body' | 'refresh'>;

export const REFRESH = defineProperty<RefreshedView, { readonly action: 'refresh'; readonly refresh: Refresh }>()({
  name: 'refresh',
  value: ({ refresh: { type, every, deferred } }) => [type, every, deferred && 'DEFERRED'].filter(Boolean).join(' '),
  words: ['refresh'],
  parse({ cursor }) {
    const refresh = parseRefresh(cursor);
    cursor.unread();
    return { refresh };
  },
  print: ({ refresh }) => ` REFRESH ${printRefreshClause(refresh)}`,
  alter: {
    actions: ['refresh'],
    sets: ['refresh', 'refresh start', 'refresh period', 'refresh time zone'],
    syntax: { 'set refresh': cursor => ({ action: 'refresh', refresh: parseSetRefresh(cursor) }) },
    print: ({ refresh }) => `SET REFRESH ${printRefreshClause({ ...refresh, deferred: false })}`,
    // DEFERRED belongs to the creation of the view and stays (observed on 9.3.4).
    apply: ({ body, refresh: { deferred } }, { refresh }) => ({
      refresh: { ...resolveRefresh(refresh, body), deferred },
    }),
    permissions: ['SET REFRESH TYPE'],
    between(wanted, current) {
      const isSame = [REFRESH, ...REFRESH_DETAILS].every(({ value }) => {
        const [a, b] = [value(wanted), value(current)];
        return a === undefined || b === undefined || a === b;
      });
      if (isSame || wanted.refresh.deferred !== current.refresh.deferred) return undefined;
      const isTimer = wanted.refresh.type === 'EVERY' && !wanted.refresh.period;
      const start = wanted.refresh.start ?? (isTimer ? current.refresh.start : undefined);
      return { action: 'refresh', refresh: { ...wanted.refresh, start } };
    },
  },
  unalterable: { reason: 'no statement changes DEFERRED' },
});

const defineDetail = <N extends string>(name: N, value: (refresh: Refresh) => string | undefined) =>
  defineProperty<RefreshedView, never>()({
    name,
    value: ({ refresh }) => value(refresh),
    isHidden: name === 'refresh period',
    unalterable: { reason: 'this server keeps a different one' },
  });

export const REFRESH_DETAILS = [
  defineDetail(
    'refresh start',
    ({ type, start, period }) => start ?? (type !== 'EVERY' || period ? 'none' : undefined),
  ),
  defineDetail('refresh period', printPeriod),
  defineDetail('refresh time zone', ({ period, timeZone }) =>
    period && printPeriod({ period }) === undefined ? undefined : (timeZone ?? 'none'),
  ),
];

/** Prints a refresh period. Undefined for PERIOD (SAMPLE BY INTERVAL), if the sampling interval of the query could not be found. */
function printPeriod({ period }: Pick<Refresh, 'period'>): string | undefined {
  if (!period) return 'none';
  if (period === 'sample by interval') return undefined;
  return `LENGTH ${period.length}${period.delay ? ` DELAY ${period.delay}` : ''}`;
}

function printRefreshClause({ type, deferred, every, start, timeZone, period }: Refresh): string {
  // Without its doubled quotes, a name that was in single quotes has none of them.
  const quote = timeZone?.replaceAll("''", '').includes("'") ? '"' : "'";
  const zone = timeZone === undefined ? '' : ` TIME ZONE ${quote}${timeZone}${quote}`;
  const head = `${type}${every === undefined ? '' : ` ${every}`}${deferred ? ' DEFERRED' : ''}`;
  if (period === 'sample by interval') return `${head} PERIOD (SAMPLE BY INTERVAL)`;
  if (period) return `${head} PERIOD (LENGTH ${period.length}${zone}${period.delay ? ` DELAY ${period.delay}` : ''})`;
  return start === undefined ? head : `${head} START '${start}'${zone}`;
}

/** Replaces PERIOD (SAMPLE BY INTERVAL) by the sampling interval of the query, if this interval can be found. */
export function resolveRefresh({ period, ...rest }: Refresh, body: string): Refresh {
  const sampling = period === 'sample by interval' ? findSampling(body) : undefined;
  if (!sampling) return { ...rest, period };
  return { ...rest, timeZone: sampling.timeZone, period: { length: sampling.interval } };
}
