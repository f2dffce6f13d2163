/*!
 * CREATE LIVE VIEW of QuestDB 10. The messages of rejections are those that its documentation and its tests contain; positions
 * that these do not tell are those of the rejected token.
 */

import type { Age, PartitionUnit } from '../definition.js';
import { parseAge, rejectUnevenAge } from '../properties/retention.js';
import { type Body, expectEndOfBody, parseViewBody } from './body.js';
import type { Cursor } from './cursor.js';
import { isWord } from './cursor.js';
import type { Dialect } from './dialect.js';
import { parseIfNotExists, parseObjectName, unquote } from './names.js';
import { parseInt64 } from './numbers.js';
import { parsePartitionBy, parsePartitionUnit } from './partition.js';
import { RejectionError } from './rejection-error.js';
import { parseTimestamp } from './timestamp.js';

/** The clauses between the name and the query. */
interface Clauses {
  /** The interval after FLUSH EVERY: `5s`. */
  readonly flush: string;
  /** The time after IN MEMORY: `1h`. By default the interval after FLUSH EVERY. */
  readonly inMemory: string;
  /** By default the partitioning of the base table. */
  readonly partition?: PartitionUnit | undefined;
  readonly ttl?: { readonly age: Age; readonly position: number } | undefined;
  /** NOW, BEGINNING or a quoted timestamp. */
  readonly start: string;
}

export interface CreateLiveView extends Clauses {
  readonly statement: 'create live view';
  readonly name: string;
  readonly position: number;
  readonly ifNotExists: boolean;
  readonly body: Body;
  readonly owner?: string | undefined;
}

/** Parses the rest of a statement after CREATE LIVE. */
export function parseCreateLiveView(
  cursor: Cursor,
  { owner, checkQuery, maxInMemory = Number.POSITIVE_INFINITY }: Dialect,
): CreateLiveView {
  cursor.expect('view');
  const named = parseIfNotExists(cursor, cursor.require("view name or 'if'"), 'view name');
  const { name, position } = parseObjectName(cursor, named.token);
  const clauses = parseClauses(cursor, maxInMemory);
  const body = parseViewBody(cursor, checkQuery, { mayHaveOwner: true });
  if (body.enclosed) expectEndOfBody(cursor, body);
  return {
    statement: 'create live view',
    name,
    position,
    ifNotExists: named.ifNotExists,
    ...clauses,
    body,
    owner: owner(cursor, cursor.next()),
  };
}

/** Parses FLUSH EVERY, then the other clauses in any order, each at most once, up to AS. */
function parseClauses(cursor: Cursor, maxInMemory: number): Clauses {
  if (!isWord(cursor.require("'flush every <duration>'"), 'flush'))
    throw new RejectionError(cursor.at, "'flush every <duration>' expected");
  const flush = parseLengthAfter(cursor, 'every');
  if (flush.micros < 100_000n) throw new RejectionError(flush.position, 'live view FLUSH EVERY must be at least 100ms');
  const clauses: { -readonly [clause in keyof Clauses]?: Clauses[clause] } = {};
  const once = (clause: keyof Clauses, name: string): void => {
    if (clauses[clause] === undefined) return;
    throw new RejectionError(cursor.at, `live view ${name} clause specified more than once`);
  };
  let token = cursor.require("'as'");
  for (; ; token = cursor.require("'as'")) {
    if (isWord(token, 'in')) {
      once('inMemory', 'IN MEMORY');
      clauses.inMemory = parseInMemory(cursor, flush, maxInMemory);
    } else if (isWord(token, 'partition')) {
      once('partition', 'PARTITION BY');
      clauses.partition = parsePartition(cursor, token);
    } else if (isWord(token, 'ttl')) {
      once('ttl', 'TTL');
      clauses.ttl = parseAge(cursor);
    } else if (isWord(token, 'start')) {
      once('start', 'START FROM');
      clauses.start = parseStart(cursor);
    } else if (isWord(token, 'backfill'))
      throw new RejectionError(cursor.at, 'live view BACKFILL is not supported, use START FROM BEGINNING');
    else break;
  }
  const { inMemory = flush.text, partition, ttl, start } = clauses;
  if (clauses.inMemory === undefined && flush.micros > maxInMemory)
    throw new RejectionError(
      flush.position,
      `${tooLong('FLUSH EVERY', maxInMemory)} because IN MEMORY defaults to FLUSH EVERY`,
    );
  if (!isWord(token, 'as')) throw new RejectionError(cursor.at, "'as' expected");
  if (start === undefined)
    throw new RejectionError(
      cursor.at,
      "live view requires a START FROM clause, one of 'START FROM NOW', 'START FROM BEGINNING' or 'START FROM <timestamp>'",
    );
  if (partition && ttl) rejectUnevenAge(partition, ttl.age, ttl.position);
  return { flush: flush.text, inMemory, partition, ttl, start };
}

function parseInMemory(cursor: Cursor, flush: Length, maxInMemory: number): string {
  const { text, micros, position } = parseLengthAfter(cursor, 'memory');
  if (micros < flush.micros)
    throw new RejectionError(position, `live view IN MEMORY must be at least FLUSH EVERY (${flush.text})`);
  if (micros > maxInMemory) throw new RejectionError(position, tooLong('IN MEMORY', maxInMemory));
  return text;
}

function tooLong(clause: string, micros: number): string {
  const [unit, factor] = Object.entries(MICROS)
    .filter(([unit]) => unit !== 'd')
    .findLast(([, factor]) => micros % Number(factor) === 0) ?? ['us', 1];
  return `live view ${clause} must be at most cairo.live.view.in.memory.max (${micros / Number(factor)}${unit})`;
}

interface Length {
  readonly text: string;
  readonly micros: bigint;
  readonly position: number;
}

/** Microseconds in each unit. */
const MICROS: Readonly<Record<string, bigint>> = {
  ms: 1000n,
  s: 1_000_000n,
  m: 60_000_000n,
  h: 3_600_000_000n,
  d: 86_400_000_000n,
};

const MAX_LONG = 2n ** 63n - 1n;

function parseLengthAfter(cursor: Cursor, word: string): Length {
  cursor.expect(word);
  const text = cursor.require('duration');
  const position = cursor.at;
  const [, digits = '', unit = ''] = /^([\d_]*)(.*)$/s.exec(text) ?? [];
  const factor = Object.hasOwn(MICROS, unit) ? MICROS[unit] : undefined;
  if (factor === undefined)
    throw new RejectionError(position, `invalid duration unit, 'ms', 's', 'm', 'h' or 'd' expected: ${text}`);
  const count = parseInt64(digits);
  if (!count) throw new RejectionError(position, `invalid duration value: ${text}`);
  const micros = count * factor;
  if (micros > MAX_LONG) throw new RejectionError(position, 'live view duration is out of range');
  return { text: `${count}${unit}`, micros, position };
}

function parsePartition(cursor: Cursor, token: string): PartitionUnit {
  const { name = '', position = cursor.at } = parsePartitionBy(cursor, token) ?? {};
  const unit = parsePartitionUnit(name);
  if (unit === 'NONE')
    throw new RejectionError(position, 'live view PARTITION BY NONE is not supported; live views must be partitioned');
  if (unit) return unit;
  throw new RejectionError(position, "'HOUR', 'DAY', 'WEEK', 'MONTH' or 'YEAR' expected");
}

function parseStart(cursor: Cursor): string {
  cursor.expect('from');
  const token = cursor.require("'now', 'beginning' or a quoted timestamp literal");
  const position = cursor.at;
  if (isWord(token, 'now') || isWord(token, 'beginning')) {
    const isCall = cursor.next() === '(';
    if (isCall && isWord(token, 'now'))
      throw new RejectionError(cursor.at, 'live view START FROM NOW does not take arguments');
    cursor.unread();
    return token.toUpperCase();
  }
  if (isWord(token, 'null')) throw new RejectionError(position, 'live view START FROM does not accept NULL');
  if (!token.startsWith("'"))
    throw new RejectionError(position, "'now', 'beginning' or a quoted timestamp literal expected");
  if (parseTimestamp(unquote(token))) return token;
  throw new RejectionError(position, `invalid live view START FROM timestamp [ts=${unquote(token)}]`);
}
