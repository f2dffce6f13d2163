/*!
 * CREATE LIVE VIEW, as documented for QuestDB 10: no server that has it was to be had, so the words of refusals are this
 * service's own.
 */
import { type Body, endBody, viewBody } from './body.js';
import type { Cursor } from './cursor.js';
import { is } from './cursor.js';
import type { Dialect } from './dialect.js';
import { ifNotExists, objectName, unquote } from './names.js';
import { type PartitionUnit, partitionBy, partitionUnit } from './partition.js';
import { Rejection } from './rejection.js';
import { parseTimestamp } from './timestamp.js';

export interface CreateLiveView {
  readonly statement: 'create live view';
  readonly name: string;
  readonly position: number;
  readonly ifNotExists: boolean;
  /** `5s` after FLUSH EVERY. */
  readonly flush?: string | undefined;
  /** `1h` after IN MEMORY. */
  readonly inMemory?: string | undefined;
  /** That of the base table where it is not given. */
  readonly partition?: PartitionUnit | undefined;
  /** NOW, BEGINNING or a timestamp in quotes. */
  readonly start: string;
  readonly body: Body;
  readonly owner?: string | undefined;
}

/** After CREATE LIVE. */
export function createLiveView(cursor: Cursor, { owner, checkQuery }: Dialect): CreateLiveView {
  cursor.expect('view');
  const named = ifNotExists(cursor, cursor.require("view name or 'if'"), 'view name');
  const { name, position } = objectName(cursor, named.token);
  const flush = lengthBehind(cursor, 'flush', 'every');
  const inMemory = lengthBehind(cursor, 'in', 'memory');
  const partition = partitionOf(cursor);
  const start = startFrom(cursor);
  cursor.expect('as');
  const body = viewBody(cursor, checkQuery);
  endBody(cursor, body);
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

function lengthBehind(cursor: Cursor, first: string, second: string): string | undefined {
  if (!is(cursor.require("'start'"), first)) {
    cursor.back();
    return;
  }
  cursor.expect(second);
  const length = cursor.require('interval');
  if (/^\d[\d_]*(?:ms|[smhd])$/.test(length)) return length.replaceAll('_', '');
  throw new Rejection(cursor.at, `invalid interval, units are 'ms', 's', 'm', 'h' and 'd': ${length}`);
}

function partitionOf(cursor: Cursor): PartitionUnit | undefined {
  const partition = partitionBy(cursor, cursor.require("'start'"));
  if (!partition) {
    cursor.back();
    return;
  }
  const unit = partitionUnit(partition.name);
  if (unit && unit !== 'NONE') return unit;
  throw new Rejection(partition.position, "'HOUR', 'DAY', 'WEEK', 'MONTH' or 'YEAR' expected");
}

function startFrom(cursor: Cursor): string {
  cursor.expect('start');
  cursor.expect('from');
  const token = cursor.require("'now' or 'beginning' or timestamp");
  if (is(token, 'now') || is(token, 'beginning')) return token.toUpperCase();
  if (token.startsWith("'") && parseTimestamp(unquote(token))) return token;
  throw new Rejection(cursor.at, 'invalid START FROM timestamp value');
}
