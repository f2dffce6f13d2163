import { Exit, type Io } from '@sqlpipe/cli';
import type { Difference } from '@sqlpipe/schema';
import { displayName } from '@sqlpipe/sql';
import { writeStatements } from './write-statements.js';

/**
 * Writes the stream of what A has and B lacks. What differs can't be repaired by creating: it
 * is reported, and the status is 1.
 * @param found what A has and B has not, or has in another way, in an order that replays
 */
export async function writeMissing(found: Difference[], maxRecord: number, io: Io): Promise<number> {
  const different = found.filter(({ b }) => b !== undefined);
  for (const { identity } of different)
    io.warn(`${displayName(identity)} exists and differs; CREATE cannot repair that`);
  const missing = found.flatMap(({ a, b }) => (a !== undefined && b === undefined ? [a] : []));
  await writeStatements(missing, maxRecord, io);
  return different.length ? Exit.negative : Exit.ok;
}
