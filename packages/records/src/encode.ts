/*! Statements to bytes. */
import { MAX_RECORD } from '@sqlpipe/sql';
import { objectTransform } from 'through2';
import { StreamError } from './stream-error.js';

/**
 * A transform from normalized statements, single or in batches, to records: the statement, a LF, a NUL, in UTF-8.
 * @throws StreamError for what a record can't hold (a NUL, a lone surrogate) and for a record over the limit
 */
export function encodeRecords(maxRecord = MAX_RECORD) {
  let nth = 0;
  // One at a time, as one may be a whole batch.
  const transform = objectTransform({ highWaterMark: 1 }, async (batch: string | string[]) => {
    let text = '';
    for (const statement of typeof batch === 'string' ? [batch] : batch) {
      nth++;
      const invalidContent = statement.includes('\0')
        ? 'a NUL'
        : statement.isWellFormed()
          ? ''
          : 'half of a surrogate pair';
      if (invalidContent)
        throw new StreamError(`statement ${nth} contains ${invalidContent}, which a record cannot contain`);
      if (isLonger(statement, maxRecord))
        throw new StreamError(
          `statement ${nth} makes a record longer than ${maxRecord} bytes; --max-record raises the limit`,
        );
      text += `${statement}\n\0`;
      if (text.length < CHUNK) continue;
      transform.push(Buffer.from(text)); // a batch may be a schema, and longer than a string can get
      text = '';
    }
    return text ? Buffer.from(text) : undefined;
  });
  return transform;
}

/** Records leave in buffers of this many UTF-16 code units at least. */
const CHUNK = 1024 * 1024;

/** Whether its record, with LF and NUL, has more bytes. A UTF-16 code unit has 3 at most, so few need to be counted. */
const isLonger = (statement: string, bytes: number): boolean =>
  3 * statement.length + 2 > bytes && Buffer.byteLength(statement) + 2 > bytes;
