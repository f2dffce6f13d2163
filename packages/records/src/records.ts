import { isUtf8 } from 'node:buffer';
import { pipeline, type Readable, type Transform, type Writable } from 'node:stream';
import { pipeline as runPipeline } from 'node:stream/promises';
import { MAX_RECORD, normalizeStatement, parseFailureMarker, WHITESPACE } from '@sqlpipe/sql';
import { CodedError, formatCount } from '@sqlpipe/text';
import split2 from 'split2';
import { objectTransform, transform } from 'through2';
import { createCommitWriter } from './commit-writer.js';

/**
 * Creates a transform from normalized statements, single or in batches, to records: the statement, an LF and a NUL, in UTF-8.
 * @throws StreamError for a statement that contains a NUL or a lone surrogate, and for a record over the limit
 */
export function encodeRecords(maxRecord = MAX_RECORD): Transform {
  let statementCount = 0;
  // At most one item is buffered, because an item may be a large batch.
  const transform = objectTransform({ highWaterMark: 1 }, async (batch: string | string[]) => {
    let text = '';
    for (const statement of typeof batch === 'string' ? [batch] : batch) {
      statementCount++;
      const invalidContent = statement.includes('\0')
        ? 'a NUL'
        : statement.isWellFormed()
          ? ''
          : 'half of a surrogate pair';
      if (invalidContent)
        throw new StreamError(`statement ${statementCount} contains ${invalidContent}, which a record cannot contain`);
      if (isLonger(statement, maxRecord))
        throw new StreamError(
          `statement ${statementCount} makes a record longer than ${maxRecord} bytes; --max-record raises the limit`,
        );
      text += `${statement}\n\0`;
      if (text.length < CHUNK) continue;
      transform.push(Buffer.from(text)); // a batch may be a complete schema, which one string might not hold
      text = '';
    }
    return text ? Buffer.from(text) : undefined;
  });
  return transform;
}

/** Writes statements, single or in batches, as a complete stream. @throws StreamError; errors of the statements and of writing */
export const writeRecords = (
  statements: AsyncIterable<string | string[]>,
  out: Writable & { isTTY?: boolean },
  name: string,
  maxRecord: number,
): Promise<void> => runPipeline(statements, encodeRecords(maxRecord), createCommitWriter(out, name));

/** The minimum size of an output buffer within a batch, in UTF-16 code units. */
const CHUNK = 1024 * 1024;

/** Whether a record is longer than this. The bytes of a short statement need not be counted: a UTF-16 code unit has at most 3. */
const isLonger = (statement: string, bytes: number): boolean =>
  3 * statement.length + 2 > bytes && Buffer.byteLength(statement) + 2 > bytes;

/** Limits for reading a stream. */
export interface ReadOptions {
  maxRecord?: number;
  /** Accept input of zero bytes as a stream without statements. */
  allowEmpty?: boolean;
}

/**
 * Reads the statements of a stream of UTF-8 records. Each record ends with a NUL; the `;` and the LF before it may be missing. Statements
 * are normalized (see `normalizeStatement`); records that are empty or contain only comments are skipped.
 * @throws StreamError for a stream that is empty or has more than white space after the last NUL, for a failure marker, and for a record
 * that is too long, is not UTF-8, starts with a byte order mark, or has a second statement
 */
export function decodeRecords(input: Readable, options: ReadOptions = {}): AsyncIterable<string> {
  const { maxRecord = MAX_RECORD, allowEmpty = false } = options;
  let record = 0;
  return pipeline(
    input,
    validateFraming(maxRecord, allowEmpty),
    split2('\0'),
    objectTransform(async (text: string) => {
      record++;
      try {
        return normalizeStatement(text) || undefined;
      } catch (error) {
        throw new StreamError(`record ${record}: ${(error as Error).message}`, { cause: error });
      }
    }),
    () => {}, // an error destroys the last stage, which passes it to the reader
  ) as unknown as AsyncIterable<string>;
}

/** Passes only complete, valid records. split2 would emit an unterminated tail, and search its buffer again with every chunk. */
function validateFraming(maxRecord: number, allowEmpty: boolean): Transform {
  let partial: Buffer[] = [];
  let partialBytes = 0;
  let recordCount = 0;

  const requireValidRecords = (records: Buffer): Buffer => {
    for (let start = 0; start < records.length; recordCount++) {
      const end = records.indexOf(0, start) + 1;
      if (end - start > maxRecord) throw recordTooLong(recordCount, maxRecord);
      if (BYTE_ORDER_MARK.every((byte, i) => records[start + i] === byte))
        throw new StreamError(
          `record ${recordCount + 1} starts with a byte order mark, which a stream does not have; sqlsplit accepts one in .sql text`,
        );
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
      const records = end ? requireValidRecords(Buffer.concat([...partial, chunk.subarray(0, end)])) : undefined;
      if (end) [partial, partialBytes] = [[], 0];
      if (end < chunk.length) partial.push(chunk.subarray(end));
      partialBytes += chunk.length - end;
      if (partialBytes > maxRecord && recordCount) throw recordTooLong(recordCount, maxRecord);
      if (partialBytes > maxRecord)
        throw new StreamError(
          `no NUL byte in the first ${maxRecord} bytes: it is either .sql text (sqlsplit converts it) or a longer record (--max-record raises the limit)`,
        );
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

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** Editors add a line feed at the end of a file. No record that we write begins with white space. */
const isWhiteSpace = (bytes: Buffer): boolean => bytes.every(byte => WHITESPACE.includes(String.fromCharCode(byte)));

const recordTooLong = (recordCount: number, maxRecord: number): StreamError =>
  new StreamError(`record ${recordCount + 1} is longer than ${maxRecord} bytes; --max-record raises the limit`);

function truncatedError(rest: Buffer, recordCount: number): StreamError {
  const marker = parseFailureMarker(lastLine(rest));
  if (marker) {
    const message = `incomplete after ${formatCount(recordCount, 'complete record')}: ${marker.name} failed: ${marker.reason}`;
    return new StreamError(message, { printedReason: marker.reason });
  }
  return new StreamError(
    recordCount
      ? `truncated after ${formatCount(recordCount, 'complete record')}: the input does not end with a NUL byte; the previous command may have failed`
      : 'no NUL byte in the input: it is either .sql text (sqlsplit converts it) or a stream truncated in its first record',
  );
}

/** The last line of a truncated stream. Only the last 4,096 bytes are searched for its start. */
const lastLine = (rest: Buffer): string =>
  rest.subarray(-4096).toString().replace(/\n$/, '').split('\n').at(-1) as string;

/** Input that is not a complete statement stream, or a statement that a record cannot contain. */
export class StreamError extends CodedError {
  override name = 'StreamError';
  /** The reason in a failure marker, which the program that wrote the stream has printed already. */
  readonly printedReason: string | undefined;

  constructor(message: string, { cause, printedReason }: { cause?: unknown; printedReason?: string } = {}) {
    super('DAMAGED', message, { cause });
    this.printedReason = printedReason;
  }
}
