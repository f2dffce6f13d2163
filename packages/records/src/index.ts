export { createCommitWriter, writeTo } from './commit-writer.js';
export { decodeRecords, encodeRecords, type ReadOptions, StreamError, writeRecords } from './records.js';
export { type DeferredInput, deferInput, spool } from './spool.js';
