/*! Statements to bytes, and bytes to statements. */

import { pipeline, type Readable, type Transform } from 'node:stream';
import { MAX_RECORD, normalizeStatement } from '@sqlpipe/sql';
import split2 from 'split2';
import { objectTransform } from 'through2';
import { StreamError, validateFraming } from './framing.js';

/**
 * Creates a transform from normalized statements, single or in batches, to records: the statement, an LF and a NUL, in
 * UTF-8.
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

/** The minimum size of an output buffer within a batch, in UTF-16 code units. */
const CHUNK = 1024 * 1024;

/**
 * Whether the record of a statement, with LF and NUL, is longer than this. A UTF-16 code unit has at most 3 bytes in
 * UTF-8, so the bytes of a short statement need not be counted.
 */
const isLonger = (statement: string, bytes: number): boolean =>
  3 * statement.length + 2 > bytes && Buffer.byteLength(statement) + 2 > bytes;

/** Limits for reading a stream. */
export interface ReadOptions {
  /** The longest record in bytes, its NUL included. */
  maxRecord?: number;
  /** Accept input of zero bytes as a stream without statements. */
  allowEmpty?: boolean;
}

/**
 * Reads the statements of a stream of UTF-8 records. Each record ends with a NUL; the `;` and the LF before it may be
 * missing. Statements are normalized (see `normalizeStatement`); records that are empty or contain only comments are
 * skipped.
 *
 * @throws StreamError while the result is read: no bytes, no NUL at all, no NUL at the end, bytes that are not UTF-8, a
 * record over the limit, a second statement in a record, a failure marker
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
