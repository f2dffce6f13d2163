/*! Statements to bytes. */
import type { Transform } from 'node:stream';
import { MAX_RECORD } from '@sqlpipe/sql';
import { objectTransform } from 'through2';
import { StreamError } from './framing.js';

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
