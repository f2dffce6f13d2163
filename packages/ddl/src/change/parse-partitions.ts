/*! What ALTER changes of the partitions of an object that is stored: its TTL, and some of its partitions. */
import type { Alteration } from '../alteration.js';
import { type Cursor, isWord } from '../grammar/cursor.js';
import { parseTtl, rejectUnevenTtl } from '../grammar/partition.js';
import { RejectionError } from '../grammar/rejection-error.js';
import type { PartitionChange } from './change.js';
import type { KnownObject, NameLookup } from './lookup.js';
import { expectWord } from './parse-alter-column.js';
import { skipRest } from './parse-maintenance.js';

/** After SET TTL. The enterprise edition has storage policies of tables instead. */
export function parseTtlChange(cursor: Cursor, { enterprise }: NameLookup, object: KnownObject): Alteration {
  const { kind, partitionBy } = object;
  const { ttl, position } = parseTtl(cursor);
  if (enterprise && kind !== 'materialized view' && ttl !== 0)
    throw new RejectionError(position, 'TTL is not supported on Enterprise tables; use a storage policy instead');
  if (partitionBy) rejectUnevenTtl(partitionBy, ttl, position);
  return { change: 'ttl', ttl };
}

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
