/*!
 * The only place where records leave a program. The last NUL is a commit mark: each NUL waits until another record follows, or until the
 * input has ended without an error. So a program that fails or is killed leaves an unterminated record.
 */
import { platform } from 'node:os';
import { Writable } from 'node:stream';
import { printFailureMarker } from '@sqlpipe/sql';
import { escapeLines, formatError } from '@sqlpipe/text';

const PIPE_BUF = platform() === 'linux' ? 4096 : 512;
const NUL = Buffer.alloc(1);

/**
 * The last stage of a pipeline. It writes records to `out`, and the last NUL when all records have arrived; without any record, one lone
 * NUL. A terminal gets text, with control characters escaped. If the pipeline fails, it writes a failure marker with `name`, and no NUL.
 * @param out is not ended, and an error of it fails the pipeline
 */
export function createCommitWriter(out: Writable & { isTTY?: boolean }, name: string): Writable {
  let pendingNul = Buffer.alloc(0); // the NUL of the last record, once there is one
  let writing = Promise.resolve();

  const enqueue = (bytes: Buffer, done: (error?: Error | null) => void): void => {
    writing = writing.then(() =>
      out.isTTY ? writeTo(out, escapeLines(bytes.toString().replaceAll('\0', '\n'))) : writePieces(out, bytes),
    );
    writing.then(() => done(), done);
  };

  return new Writable({
    decodeStrings: false,
    highWaterMark: 64 * 1024, // with more, V8 moves waiting buffers to its old generation: tens of MB in a large stream
    writev(chunks, done) {
      const bytes = Buffer.concat([pendingNul, ...chunks.map(({ chunk }) => chunk)]);
      pendingNul = NUL;
      enqueue(bytes.subarray(0, -1), done);
    },
    final(done) {
      enqueue(NUL, done);
    },
    destroy(error, done) {
      const closed = () => done(error);
      if (!error || out.errored) closed();
      else enqueue(Buffer.from(printFailureMarker({ name, reason: formatError(error) })), closed);
    },
  });
}

/**
 * Writes at most PIPE_BUF bytes at a time, which is atomic on a pipe (POSIX). No piece ends with a NUL, unless it is only the NUL. Pieces
 * wait for each other, because Node's streams join pending chunks into a larger write.
 */
async function writePieces(out: Writable, bytes: Buffer): Promise<void> {
  for (let start = 0, end = 0; start < bytes.length; start = end) {
    end = Math.min(start + PIPE_BUF, bytes.length);
    if (end < bytes.length && bytes[end - 1] === 0) end--;
    const written = writeTo(out, bytes.subarray(start, end));
    // A pipe accepts most writes immediately. Wait only if this write is pending, has failed, or is the last.
    if (out.writableLength || out.errored || end === bytes.length) await written;
  }
}

/** Writes to a stream; waits until it is accepted. */
export const writeTo = (out: Writable, content: Buffer | string): Promise<void> =>
  new Promise((resolve, reject) => {
    out.write(content, error => (error ? reject(error) : resolve()));
  });
