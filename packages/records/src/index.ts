/** Writes the records of a program, and the last NUL only if its input ended without an error. */

export { MAX_RECORD } from '@sqlpipe/sql';
export { createCommitWriter } from './commit-writer.js';
export { decodeRecords, type ReadOptions } from './decode.js';
export { type DeferredInput, deferInput } from './deferred-input.js';
export { encodeRecords } from './encode.js';
export { type Spooled, spool } from './spool.js';
export { StreamError } from './stream-error.js';
