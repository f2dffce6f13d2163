export { annotateFailure, formatAnnotation } from './annotations.js';
export { COMPLETE, SCRIPTS } from './completion.js';
export { Exit, exitStatus, UsageError } from './exit-status.js';
export { formatPropertyLines, paint, unifiedDiff } from './format-differences.js';
export type { Io } from './io.js';
export {
  ANNOTATIONS_OPTION,
  CONNECTION_OPTIONS,
  EXCLUDE_OPTION,
  FLAG,
  IGNORE_OPTIONS,
  INCLUDE_OPTION,
  INSTANCE_OPTIONS,
  inGroup,
  MAX_RECORD_OPTION,
  NUMBER,
  OUTPUT_OPTION,
  PLAN_OPTIONS,
  readIgnorePatterns,
  readRuleFile,
  rejectSharedInsecure,
  SEVERAL,
  VALUE,
  writeSettings,
} from './options.js';
export { collectGarbageEarly, limitHeapGrowth, type Main, type ProcessLike, runInProcess } from './process-like.js';
export type { Args, OptionSpecs } from './program.js';
export { withProgress } from './progress.js';
export { createMain, runProgram } from './run-program.js';
