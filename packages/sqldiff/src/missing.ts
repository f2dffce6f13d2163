import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Exit, type Io } from '@sqlpipe/cli';
import { writeText } from '@sqlpipe/files';
import { records, sink } from '@sqlpipe/records';
import type { Difference } from '@sqlpipe/schema';
import { title } from '@sqlpipe/sql';

/**
 * Writes the stream of what A has and B lacks; on a terminal, as text. What both have and is not the same can't be
 * repaired by creating: it is told, and makes the status 1.
 * @param found what A has and B has not, or has in another way, in an order that replays
 */
export async function writeMissing(found: Difference[], maxRecord: number, io: Io): Promise<number> {
  const different = found.filter(({ b }) => b !== undefined);
  for (const { identity } of different)
    io.warn(`${title(identity)} is there and differs, which creating can not repair`);
  const lacking = found.flatMap(({ a, b }) => (a !== undefined && b === undefined ? [a] : []));
  if (io.stdout.isTTY) await writeText(Readable.from(lacking), io.stdout);
  else await pipeline(Readable.from(lacking), records(maxRecord), sink(io.stdout, 'sqldiff'));
  return different.length ? Exit.no : Exit.yes;
}
