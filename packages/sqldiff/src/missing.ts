import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Exit, type Io } from '@sqlpipe/cli';
import { writeSqlText } from '@sqlpipe/files';
import { createCommitWriter, encodeRecords } from '@sqlpipe/records';
import type { Difference } from '@sqlpipe/schema';
import { displayName } from '@sqlpipe/sql';

/**
 * Writes the stream of what A has and B lacks; on a terminal, as text. What differs can't be repaired by creating: it
 * is reported, and the status is 1.
 * @param found what A has and B has not, or has in another way, in an order that replays
 */
export async function writeMissing(found: Difference[], maxRecord: number, io: Io): Promise<number> {
  const different = found.filter(({ b }) => b !== undefined);
  for (const { identity } of different)
    io.warn(`${displayName(identity)} exists and differs; CREATE cannot repair that`);
  const missing = found.flatMap(({ a, b }) => (a !== undefined && b === undefined ? [a] : []));
  if (io.stdout.isTTY) await writeSqlText(Readable.from(missing), io.stdout);
  else await pipeline(Readable.from(missing), encodeRecords(maxRecord), createCommitWriter(io.stdout, 'sqldiff'));
  return different.length ? Exit.negative : Exit.ok;
}
