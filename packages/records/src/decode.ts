/*! Bytes to statements. */

import { pipeline, type Readable } from 'node:stream';
import { MAX_RECORD, normalizeStatement } from '@sqlpipe/sql';
import split2 from 'split2';
import { objectTransform } from 'through2';
import { StreamError, validateFraming } from './framing.js';

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
