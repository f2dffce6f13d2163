/*!
 * CREATE LIVE VIEW, as documented for QuestDB 10. No such server was available, so the messages of rejections are not the
 * server's.
 */
import { type Body, expectEndOfBody, parseViewBody } from './body.js';
import type { Cursor } from './cursor.js';
import { isWord } from './cursor.js';
import type { Dialect } from './dialect.js';
import { parseIfNotExists, parseObjectName, unquote } from './names.js';
import { type PartitionUnit, parsePartitionBy, parsePartitionUnit } from './partition.js';
import { RejectionError } from './rejection-error.js';
import { parseTimestamp } from './timestamp.js';

export interface CreateLiveView {
  readonly statement: 'create live view';
  readonly name: string;
  readonly position: number;
  readonly ifNotExists: boolean;
  /** The interval after FLUSH EVERY: `5s`. */
  readonly flush?: string | undefined;
  /** The time after IN MEMORY: `1h`. */
  readonly inMemory?: string | undefined;
  /** By default the partitioning of the base table. */
  readonly partition?: PartitionUnit | undefined;
  /** NOW, BEGINNING or a quoted timestamp. */
  readonly start: string;
  readonly body: Body;
  readonly owner?: string | undefined;
}

/** Parses the rest of a statement after CREATE LIVE. */
export function parseCreateLiveView(cursor: Cursor, { owner, checkQuery }: Dialect): CreateLiveView {
  cursor.expect('view');
  const named = parseIfNotExists(cursor, cursor.require("view name or 'if'"), 'view name');
  const { name, position } = parseObjectName(cursor, named.token);
  const flush = parseLengthAfter(cursor, 'flush', 'every');
  const inMemory = parseLengthAfter(cursor, 'in', 'memory');
  const partition = parsePartition(cursor);
  const start = parseStart(cursor);
  cursor.expect('as');
  const body = parseViewBody(cursor, checkQuery);
  expectEndOfBody(cursor, body);
  return {
    statement: 'create live view',
    name,
    position,
    ifNotExists: named.ifNotExists,
    flush,
    inMemory,
    partition,
    start,
    body,
    owner: body.enclosed ? owner(cursor, cursor.next()) : undefined,
  };
}

function parseLengthAfter(cursor: Cursor, first: string, second: string): string | undefined {
  if (!isWord(cursor.require("'start'"), first)) {
    cursor.unread();
    return;
  }
  cursor.expect(second);
  const length = cursor.require('interval');
  if (/^\d[\d_]*(?:ms|[smhd])$/.test(length)) return length.replaceAll('_', '');
  throw new RejectionError(cursor.at, `invalid interval, units are 'ms', 's', 'm', 'h' and 'd': ${length}`);
}

function parsePartition(cursor: Cursor): PartitionUnit | undefined {
  const partition = parsePartitionBy(cursor, cursor.require("'start'"));
  if (!partition) {
    cursor.unread();
    return;
  }
  const unit = parsePartitionUnit(partition.name);
  if (unit && unit !== 'NONE') return unit;
  throw new RejectionError(partition.position, "'HOUR', 'DAY', 'WEEK', 'MONTH' or 'YEAR' expected");
}

function parseStart(cursor: Cursor): string {
  cursor.expect('start');
  cursor.expect('from');
  const token = cursor.require("'now' or 'beginning' or timestamp");
  if (isWord(token, 'now') || isWord(token, 'beginning')) return token.toUpperCase();
  if (token.startsWith("'") && parseTimestamp(unquote(token))) return token;
  throw new RejectionError(cursor.at, 'invalid START FROM timestamp value');
}
