import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Io } from '@sqlpipe/cli';
import { isStdout, writeOutput, writeSqlText } from '@sqlpipe/files';
import { createCommitWriter, encodeRecords } from '@sqlpipe/records';

/** Writes statements as a stream; as text to a terminal and to a file `NAME.sql`. */
export async function writeStatements(
  statements: readonly string[],
  { output, maxRecord }: { output?: string | undefined; maxRecord: number },
  io: Io,
): Promise<void> {
  const isText = isStdout(output) ? io.stdout.isTTY : output?.endsWith('.sql');
  const write = (out: Writable) => {
    const readable = Readable.from(statements);
    if (isText) return writeSqlText(readable, out);
    return pipeline(readable, encodeRecords(maxRecord), createCommitWriter(out, 'sqldiff'));
  };
  await writeOutput(output, io.stdout, write, () => io.interrupted);
}
