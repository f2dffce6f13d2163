import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Io } from '@sqlpipe/cli';
import { writeSqlText } from '@sqlpipe/files';
import { createCommitWriter, encodeRecords } from '@sqlpipe/records';

/** Writes statements to standard output: as text if it is a terminal, as a stream otherwise. */
export async function writeStatements(statements: readonly string[], maxRecord: number, io: Io): Promise<void> {
  const readable = Readable.from(statements);
  if (io.stdout.isTTY) await writeSqlText(readable, io.stdout);
  else await pipeline(readable, encodeRecords(maxRecord), createCommitWriter(io.stdout, 'sqldiff'));
}
