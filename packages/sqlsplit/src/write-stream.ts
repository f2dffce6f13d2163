/*! From `.sql` text or a folder to a stream. */
import { pipeline } from 'node:stream/promises';
import { Exit, type Io, limitHeapGrowth } from '@sqlpipe/cli';
import { createCommitWriter, encodeRecords } from '@sqlpipe/records';
import { readStatements } from './read-statements.js';

/** Writes the statements of the files, or of standard input, as a stream; returns the exit status. */
export async function writeStream(
  { operands: files, maxRecord }: { operands: string[]; maxRecord: number },
  io: Io,
): Promise<number> {
  limitHeapGrowth();
  await pipeline(
    readStatements(files, io.stdin, maxRecord),
    encodeRecords(maxRecord),
    createCommitWriter(io.stdout, 'sqlsplit'),
  );
  return Exit.ok;
}
