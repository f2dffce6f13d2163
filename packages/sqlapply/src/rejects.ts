/*! The file of statements that are not in force on the target. */
import type { Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { writeOutput } from '@sqlpipe/files';
import { createCommitWriter, encodeRecords } from '@sqlpipe/records';

/** Statements may contain passwords. */
const PRIVATE_MODE = 0o600;

/**
 * Writes statements as a stream; to standard output if the path is `-`. If their source fails, the earlier statements
 * are still written, without the last NUL and with a failure marker, so that the stream is recognized as incomplete.
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
      await finished(end).catch(() => {}); // now the failure marker is written
    }
  };
  await writeOutput(path, stdout, write, undefined, PRIVATE_MODE);
  if (failure) throw failure;
}
