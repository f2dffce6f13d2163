/*!
 * Validates a stream: bytes in, the same bytes out, but only complete and valid records. Truncated input is an error.
 * Without this step split2 would emit an unterminated tail as a record, replace bytes that are not UTF-8 by U+FFFD, and
 * search its whole buffer again with every chunk.
 */

import { isUtf8 } from 'node:buffer';
import { parseFailureMarker, WHITESPACE } from '@sqlpipe/sql';
import { transform } from 'through2';

/**
 * Creates a transform that passes only complete records.
 * @param maxRecord the longest record in bytes, its NUL included
 * @param allowEmpty whether input of zero bytes is accepted, as a stream without statements
 */
export function validateFraming(maxRecord: number, allowEmpty: boolean) {
  let partial: Buffer[] = [];
  let partialBytes = 0;
  let recordCount = 0;

  const checkRecords = (records: Buffer): Buffer => {
    for (let start = 0; start < records.length; recordCount++) {
      const end = records.indexOf(0, start) + 1;
      if (end - start > maxRecord) throw recordTooLong(recordCount, maxRecord);
      if (!isUtf8(records.subarray(start, end)))
        throw new StreamError(
          `record ${recordCount + 1} contains bytes that are not UTF-8; iconv converts other encodings`,
        );
      start = end;
    }
    return records;
  };

  return transform(
    async (chunk: Buffer) => {
      const end = chunk.lastIndexOf(0) + 1;
      const records = end ? checkRecords(Buffer.concat([...partial, chunk.subarray(0, end)])) : undefined;
      if (end) [partial, partialBytes] = [[], 0];
      if (end < chunk.length) partial.push(chunk.subarray(end));
      partialBytes += chunk.length - end;
      if (partialBytes > maxRecord)
        throw recordCount ? recordTooLong(recordCount, maxRecord) : noNulWithinLimit(maxRecord);
      return records;
    },
    async () => {
      const rest = Buffer.concat(partial);
      if (partialBytes && !(recordCount && isWhiteSpace(rest))) throw truncatedError(rest, recordCount);
      if (!recordCount && !allowEmpty)
        throw new StreamError(
          'empty input: a statement stream has at least one NUL byte; the previous command may have failed',
        );
    },
  );
}

/** Editors add a line feed at the end of a file. No record that we write begins with white space. */
const isWhiteSpace = (bytes: Buffer): boolean => bytes.every(byte => WHITESPACE.includes(String.fromCharCode(byte)));

const recordTooLong = (recordCount: number, maxRecord: number): StreamError =>
  new StreamError(`record ${recordCount + 1} is longer than ${maxRecord} bytes; --max-record raises the limit`);

const noNulWithinLimit = (maxRecord: number): StreamError =>
  new StreamError(
    `no NUL byte in the first ${maxRecord} bytes: it is either .sql text (sqlsplit converts it) or a longer record (--max-record raises the limit)`,
  );

const noNulInInput = (): StreamError =>
  new StreamError(
    'no NUL byte in the input: it is either .sql text (sqlsplit converts it) or a stream truncated in its first record',
  );

function truncatedError(rest: Buffer, recordCount: number): StreamError {
  const marker = parseFailureMarker(lastLine(rest));
  if (marker) {
    const message = `incomplete after ${formatCount(recordCount)}: ${marker.name} failed: ${marker.reason}`;
    return new StreamError(message, { repeated: marker.reason });
  }
  return recordCount
    ? new StreamError(
        `truncated after ${formatCount(recordCount)}: the input does not end with a NUL byte; the previous command may have failed`,
      )
    : noNulInInput();
}

/** The last line of a truncated stream. Only the last 4,096 bytes are searched for its start. */
const lastLine = (rest: Buffer): string =>
  rest.subarray(-4096).toString().replace(/\n$/, '').split('\n').at(-1) as string;

const formatCount = (recordCount: number): string =>
  `${recordCount} complete ${recordCount === 1 ? 'record' : 'records'}`;

/** Input that is not a complete statement stream, or a statement that a record cannot contain. */
export class StreamError extends Error {
  override name = 'StreamError';
  readonly code = 'DAMAGED';
  /** The end of the message if it is that of the program that wrote the stream, which prints it too. */
  readonly repeated: string | undefined;

  constructor(message: string, { cause, repeated }: { cause?: unknown; repeated?: string } = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.repeated = repeated;
  }
}
