import { isUtf8 } from 'node:buffer';
import type { Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MAX_RECORD, normalizeStatement, parseFailureMarker, WHITESPACE } from '@sqlpipe/sql';
import { CodedError, formatCount } from '@sqlpipe/text';
import { objectTransform } from 'through2';
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
      const hasNul = statement.includes('\0');
      if (hasNul || !statement.isWellFormed()) {
        const content = hasNul ? 'a NUL' : 'half of a surrogate pair';
        throw new StreamError(`statement ${statementCount} contains ${content}, which a record cannot contain`);
      }
      // The bytes of a short statement need not be counted: a UTF-16 code unit has at most 3.
      if (3 * statement.length + 2 > maxRecord && Buffer.byteLength(statement) + 2 > maxRecord)
        throw new StreamError(
          `statement ${statementCount} makes a record longer than ${maxRecord} bytes; --max-record raises the limit`,
        );
      text += `${statement}\n\0`;
      if (text.length < 1024 * 1024) continue;
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
): Promise<void> => pipeline(statements, encodeRecords(maxRecord), createCommitWriter(out, name));

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
export async function* decodeRecords(
  input: AsyncIterable<Buffer>,
  { maxRecord = MAX_RECORD, allowEmpty = false }: ReadOptions = {},
): AsyncGenerator<string, void, undefined> {
  let partial: Buffer[] = [];
  let partialBytes = 0;
  let recordCount = 0;
  for await (const chunk of input) {
    const end = chunk.lastIndexOf(0) + 1;
    const records = end ? Buffer.concat([...partial, chunk.subarray(0, end)]) : Buffer.alloc(0);
    if (end) [partial, partialBytes] = [[], 0];
    for (let start = 0, next = 0; start < records.length; start = next) {
      next = records.indexOf(0, start) + 1;
      recordCount++;
      const statement = decodeRecord(records.subarray(start, next), recordCount, maxRecord);
      if (statement) yield statement;
    }
    if (end < chunk.length) partial.push(chunk.subarray(end));
    partialBytes += chunk.length - end;
    if (partialBytes > maxRecord && recordCount) throw recordTooLongError(recordCount + 1, maxRecord);
    if (partialBytes > maxRecord)
      throw new StreamError(
        `no NUL byte in the first ${maxRecord} bytes: it is either .sql text (sqlsplit converts it) or a longer record (--max-record raises the limit)`,
      );
  }
  const rest = Buffer.concat(partial);
  // Editors add a line feed at the end of a file. No record that we write begins with white space.
  const isComplete = recordCount > 0 && rest.every(byte => WHITESPACE.includes(String.fromCharCode(byte)));
  if (partialBytes && !isComplete) throw truncatedError(rest, recordCount);
  if (!recordCount && !allowEmpty)
    throw new StreamError(
      'empty input: a statement stream has at least one NUL byte; the previous command may have failed',
    );
}

/** The statement of a record; '' if the record has none. @param bytes with the NUL @param record its number */
function decodeRecord(bytes: Buffer, record: number, maxRecord: number): string {
  if (bytes.length > maxRecord) throw recordTooLongError(record, maxRecord);
  if (bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK))
    throw new StreamError(
      `record ${record} starts with a byte order mark, which a stream does not have; sqlsplit accepts one in .sql text`,
    );
  if (!isUtf8(bytes))
    throw new StreamError(`record ${record} contains bytes that are not UTF-8; iconv converts other encodings`);
  try {
    return normalizeStatement(bytes.toString('utf8', 0, bytes.length - 1));
  } catch (error) {
    throw new StreamError(`record ${record}: ${(error as Error).message}`, { cause: error });
  }
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

const recordTooLongError = (record: number, maxRecord: number): StreamError =>
  new StreamError(`record ${record} is longer than ${maxRecord} bytes; --max-record raises the limit`);

function truncatedError(rest: Buffer, recordCount: number): StreamError {
  const lines = rest.subarray(-4096).toString().replace(/\n$/, '').split('\n'); // of a long text, only the end
  const marker = parseFailureMarker(lines.at(-1) as string);
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
