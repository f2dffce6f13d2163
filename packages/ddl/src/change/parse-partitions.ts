/*! What ALTER does to some partitions of an object that is stored. */
import { type Cursor, expectWord, isWord } from '../grammar/cursor.js';
import { RejectionError } from '../grammar/rejection-error.js';
import type { PartitionChange } from './change.js';
import type { KnownObject } from './lookup.js';

import { skipRest } from './parse-maintenance.js';

/** After PARTITION. Which partitions are meant is not parsed. */
export function parsePartitions(
  cursor: Cursor,
  { partitionBy }: KnownObject,
  verb: PartitionChange['verb'],
): Omit<PartitionChange, 'name'> {
  const position = cursor.at;
  if (verb === 'convert partition') {
    expectWord(cursor, 'to');
    const format = cursor.requireNoSemicolon("'parquet' or 'native'");
    if (!isWord(format, 'parquet') && !isWord(format, 'native'))
      throw new RejectionError(cursor.at, "'parquet' or 'native' expected");
  }
  if (partitionBy === 'NONE' && verb !== 'force drop partition')
    throw new RejectionError(cursor.at, 'table is not partitioned');
  const which = cursor.requireNoSemicolon("'list' or 'where'");
  if (!isWord(which, 'list') && !isWord(which, 'where'))
    throw new RejectionError(cursor.at, "'list' or 'where' expected");
  if (isWord(which, 'list') && cursor.next() === ',') throw new RejectionError(cursor.at, 'partition name missing');
  skipRest(cursor);
  return { verb, position };
}
