/*!
 * The one place where records leave a program. The last NUL is a commit mark: a record's NUL is written only when
 * another record follows or the input ended without an error, so a program that fails, or is killed at any moment,
 * leaves an unterminated record. On a pipe a write of at most PIPE_BUF bytes is atomic (POSIX), and only
 * the last write ends with a NUL. Each write waits for the one before, because Node's streams join pending chunks into a
 * larger write.
 */
import { platform } from 'node:os';
import { Writable } from 'node:stream';
import { escapeLines, formatError, formatFailureMarker } from '@sqlpipe/sql';

const PIPE_BUF = platform() === 'linux' ? 4096 : 512;
const NUL = Buffer.alloc(1);

/**
 * The end of a writer's pipeline: records in, written to `out`, the last NUL when all have arrived. No record at all
 * makes one lone NUL. A terminal gets text, with what could move its cursor escaped. A pipeline that fails writes a
 * failure marker (`-- NAME: incomplete: REASON`) and no NUL.
 *
 * @param out where to; it is not ended, and its errors end the pipeline
 * @param name the program's, for the failure marker
 */
export function createCommitWriter(out: Writable & { isTTY?: boolean }, name: string): Writable {
  let pendingNul = Buffer.alloc(0); // the NUL of the last record, once there is one
  let writing = Promise.resolve();

  const write = (bytes: Buffer, done: (error?: Error | null) => void): void => {
    writing = writing.then(() => (out.isTTY ? writeEscaped(out, bytes) : writePieces(out, bytes)));
    writing.then(() => done(), done);
  };

  return new Writable({
    decodeStrings: false,
    highWaterMark: 64 * 1024, // V8 promotes what waits longer to its old generation: tens of megabytes in a large stream
    writev(chunks, done) {
      const bytes = Buffer.concat([pendingNul, ...chunks.map(({ chunk }) => chunk)]);
      pendingNul = NUL;
      write(bytes.subarray(0, -1), done);
    },
    final(done) {
      write(NUL, done);
    },
    destroy(error, done) {
      const closed = () => done(error);
      if (!error || out.errored) closed();
      else write(Buffer.from(formatFailureMarker({ name, reason: formatError(error) })), closed);
    },
  });
}

/** Writes at most PIPE_BUF bytes at a time. No piece ends with a NUL, unless it is only the NUL. */
async function writePieces(out: Writable, bytes: Buffer): Promise<void> {
  for (let start = 0, end = 0; start < bytes.length; start = end) {
    end = Math.min(start + PIPE_BUF, bytes.length);
    if (end < bytes.length && bytes[end - 1] === 0) end--;
    const written = write(out, bytes.subarray(start, end));
    // A pipe accepts most writes at once; only what is waiting, has failed or is the last is worth a wait.
    if (out.writableLength || out.errored || end === bytes.length) await written;
  }
}

/** The same text as after `tr '\0' '\n'`. */
const writeEscaped = (out: Writable, bytes: Buffer): Promise<void> =>
  write(out, Buffer.from(escapeLines(bytes.toString().replaceAll('\0', '\n'))));

const write = (out: Writable, bytes: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    out.write(bytes, error => (error ? reject(error) : resolve()));
  });
