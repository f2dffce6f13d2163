export type { Argv as CommandLine } from 'yargs';
export { annotateFailure, type Finding, formatAnnotation } from './annotations.js';
export type { CompletionSpec } from './completion-spec.js';
export { zshBootstrap } from './completion-zsh.js';
export { Exit, exitStatus, UsageError } from './exit.js';
export { addConnectionOptions, addInstanceOptions, printSettings, rejectSharedInsecure } from './instance-options.js';
export type { Io } from './io.js';
export { collectGarbageEarly, limitHeapGrowth } from './limit-heap-growth.js';
export type { Args, ArgsOf, Program } from './program.js';
export { type Progress, withProgress } from './progress.js';
export { formatPropertyLines } from './property-lines.js';
export { IGNORE_FILE_OPTION, IGNORE_OPTION, readIgnorePatterns, readRuleFile } from './rules.js';
export { createMain, runProgram } from './run-program.js';
export {
  ALLOW_LOSS_OPTION,
  ANNOTATIONS_OPTION,
  EXCLUDE_OPTION,
  INCLUDE_OPTION,
  maxRecordOption,
  OUTPUT_OPTION,
  RENAMED_OPTION,
} from './stream-options.js';
export { unifiedDiff } from './unified-diff.js';
export { type Main, runInProcess, type World } from './world.js';
