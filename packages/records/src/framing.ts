/*!
 * Validates a stream: bytes in, the same bytes out, but only complete and valid records. So truncated input is an
 * error, and split2 never sees it: it would pass the tail as a record, replace bytes that are not UTF-8 by U+FFFD, and
 * search its buffer again with every chunk.
 */
import { isUtf8 } from 'node:buffer';
import { parseFailureMarker } from '@sqlpipe/sql';
import { transform } from 'through2';
import { StreamError } from './stream-error.js';

/**
 * A transform that passes complete records only.
 * @param maxRecord the longest record in bytes, its NUL included
 * @param allowEmpty whether no bytes at all are a stream of no statements
 */
export function validateFraming(maxRecord: number, allowEmpty: boolean) {
  let partial: Buffer[] = [];
  let partialBytes = 0;
  let complete = 0;

  const checkRecords = (records: Buffer): Buffer => {
    for (let start = 0; start < records.length; complete++) {
      const end = records.indexOf(0, start) + 1;
      if (end - start > maxRecord) throw recordTooLong(complete, maxRecord);
      if (!isUtf8(records.subarray(start, end)))
        throw new StreamError(
          `record ${complete + 1} contains bytes that are not UTF-8; iconv converts other encodings`,
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
      if (partialBytes > maxRecord) throw complete ? recordTooLong(complete, maxRecord) : missingNul(maxRecord);
      return records;
    },
    async () => {
      if (partialBytes) throw truncatedError(Buffer.concat(partial), complete);
      if (!complete && !allowEmpty)
        throw new StreamError(
          'empty input: a statement stream has at least one NUL byte; the previous command may have failed',
        );
    },
  );
}

const recordTooLong = (complete: number, maxRecord: number): StreamError =>
  new StreamError(`record ${complete + 1} is longer than ${maxRecord} bytes; --max-record raises the limit`);

const missingNul = (maxRecord: number): StreamError =>
  new StreamError(
    `no NUL byte in the first ${maxRecord} bytes: it is either .sql text (sqlsplit converts it) or a longer record (--max-record raises the limit)`,
  );

const noNulError = (): StreamError =>
  new StreamError(
    'no NUL byte in the input: it is either .sql text (sqlsplit converts it) or a stream truncated in its first record',
  );

function truncatedError(rest: Buffer, complete: number): StreamError {
  const marker = parseFailureMarker(lastLine(rest));
  if (marker) return new StreamError(`incomplete after ${formatCount(complete)}: ${marker.name}: ${marker.reason}`);
  return complete
    ? new StreamError(
        `truncated after ${formatCount(complete)}: the input does not end with a NUL byte; the previous command may have failed`,
      )
    : noNulError();
}

/** The last line of a cut stream, as far as a marker may be long. */
const lastLine = (rest: Buffer): string =>
  rest.subarray(-4096).toString().replace(/\n$/, '').split('\n').at(-1) as string;

const formatCount = (complete: number): string => `${complete} complete ${complete === 1 ? 'record' : 'records'}`;
