/*! The file that keeps what is not in force on the target. */
import type { Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { writeOutput } from '@sqlpipe/files';
import { createCommitWriter, encodeRecords } from '@sqlpipe/records';

/** Statements may hold passwords. */
const PRIVATE_MODE = 0o600;

/**
 * Writes statements as a stream, to standard output where the path is `-`. Where their source fails, what came before is kept all the same, without the last NUL
 * and with a note of why, so that it does not pass for all there is.
 * @throws what the source throws, once the file is written; errors of the file system
 */
export async function writeRejects(
  path: string,
  stdout: Writable,
  rejects: AsyncIterable<string>,
  maxRecord: number,
): Promise<void> {
  let failure: unknown;
  const write = async (file: Writable): Promise<void> => {
    const end = createCommitWriter(file, 'sqlapply');
    try {
      await pipeline(rejects, encodeRecords(maxRecord), end);
    } catch (error) {
      failure = error;
      await finished(end).catch(() => {}); // then its note is written
    }
  };
  await writeOutput(path, stdout, write, undefined, PRIVATE_MODE);
  if (failure) throw failure;
}
