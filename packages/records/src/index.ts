export { MAX_RECORD } from '@sqlpipe/sql';
export { type Arriving, arriving } from './arriving.js';
export { StreamError } from './errors.js';
export { records } from './records.js';
export { sink } from './sink.js';
export { type Spooled, spool } from './spool.js';
export { type ReadOptions, statements } from './statements.js';
