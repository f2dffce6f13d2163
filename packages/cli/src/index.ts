export { type Args, command, type Program } from './command.js';
export { Exit, exitStatus, UsageError } from './exit.js';
export { instanceOptions } from './instance-options.js';
export type { Io } from './io.js';
export { stayLean } from './memory.js';
export { type Progress, watched } from './progress.js';
export { propertyLines } from './property-lines.js';
export { EXCLUDE, INCLUDE, recordLimit } from './stream-options.js';
export { unifiedDiff } from './unified-diff.js';
