/*! What ALTER does to some partitions of an object that is stored. */
import { type Cursor, isWord } from '../grammar/cursor.js';
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
    cursor.expect('to');
    const format = cursor.requireNoSemicolon("'parquet' or 'native'");
    if (!isWord(format, 'parquet') && !isWord(format, 'native'))
      throw cursor.rejection("'parquet' or 'native' expected");
  }
  if (partitionBy === 'NONE' && verb !== 'force drop partition') throw cursor.rejection('table is not partitioned');
  const which = cursor.requireNoSemicolon("'list' or 'where'");
  if (!isWord(which, 'list') && !isWord(which, 'where')) throw cursor.rejection("'list' or 'where' expected");
  if (isWord(which, 'list') && cursor.next() === ',') throw cursor.rejection('partition name missing');
  skipRest(cursor);
  return { verb, position };
}
