/** Writes the records of a program, and the last NUL only if its input ended without an error. */

export { MAX_RECORD } from '@sqlpipe/sql';
export { createCommitWriter } from './commit-writer.js';
export { decodeRecords, encodeRecords, type ReadOptions, StreamError, writeRecords } from './records.js';
export { type DeferredInput, deferInput, type Spooled, spool } from './spool.js';
