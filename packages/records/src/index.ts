export { MAX_RECORD } from '@sqlpipe/sql';
export { type DeferredInput, deferInput } from './deferred-input.js';
export { StreamError } from './stream-error.js';
export { encodeRecords } from './encode.js';
export { createCommitWriter } from './commit-writer.js';
export { type Spooled, spool } from './spool.js';
export { type ReadOptions, decodeRecords } from './decode.js';
