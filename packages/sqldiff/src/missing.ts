import { Exit, type Io } from '@sqlpipe/cli';
import type { Difference } from '@sqlpipe/schema';
import { displayName } from '@sqlpipe/sql';
import { type OutputOptions, writeStatements } from './write-statements.js';

/**
 * Writes the stream of the objects that only A has. An object that differs cannot be repaired by CREATE: it is
 * reported, and the status is 1.
 * @param differences the objects that only A has or that differ in B, in an order that can be replayed
 */
export async function writeMissing(differences: Difference[], output: OutputOptions, io: Io): Promise<number> {
  const different = differences.filter(({ b }) => b !== undefined);
  for (const { identity } of different)
    io.warn(`${displayName(identity)} exists and differs; CREATE cannot repair that`);
  const missing = differences.flatMap(({ a, b }) => (a !== undefined && b === undefined ? [a] : []));
  await writeStatements(missing, output, io);
  return different.length ? Exit.negative : Exit.ok;
}
