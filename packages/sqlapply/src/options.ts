/*! The options of sqlapply. */
import {
  ALLOW_LOSS_OPTION,
  ANNOTATIONS_OPTION,
  type ArgsOf,
  addInstanceOptions,
  type CommandLine,
  IGNORE_FILE_OPTION,
  IGNORE_OPTION,
  maxRecordOption,
  RENAMED_OPTION,
} from '@sqlpipe/cli';
import { MAX_RECORD } from '@sqlpipe/records';

/** The parsed options and operands. */
export type ApplyOptions = ArgsOf<typeof declareOptions>;

/** The options of a run, wherever its input comes from. */
export type RunOptions = ArgsOf<typeof declareReplayOptions> &
  Pick<ApplyOptions, 'json' | 'annotations' | 'staleOk' | 'allowPlan'>;

/** Whether standard output is used for data, so that a dry run must not print there. */
export const hasDataOnStdout = ({ report, rejects, json, annotations }: RunOptions): boolean =>
  json || annotations || [report, rejects].includes('-');

/** Declares the options that say how statements are applied. */
export const declareReplayOptions = <Options>(cli: CommandLine<Options>) =>
  cli
    .option('dry-run', {
      alias: 'n',
      type: 'boolean',
      default: false,
      describe: 'print what would happen; change nothing',
    })
    .option('if-exists', {
      choices: ['compare', 'fail', 'skip'] as const,
      default: 'compare' as const,
      describe: 'what to do if an object exists',
    })
    .option('keep-going', {
      alias: 'k',
      type: 'boolean',
      default: false,
      describe: 'continue after a rejected statement',
    })
    .option('stream', {
      type: 'boolean',
      default: false,
      describe: 'send records as they arrive',
    })
    .option('wait', {
      type: 'number',
      requiresArg: true,
      describe: 'maximum wait for the server to start',
    })
    .option('jobs', {
      alias: 'j',
      type: 'number',
      default: 1,
      requiresArg: true,
      describe: 'number of statements in flight',
    })
    .option('allow', {
      type: 'string',
      array: true,
      default: [],
      describe: 'also send these: ALTER, DROP, CTAS, REPLACE, all',
    })
    .option('alter', { type: 'boolean', default: false, describe: 'alter existing objects that differ' })
    .option('allow-loss', ALLOW_LOSS_OPTION)
    .option('renamed', RENAMED_OPTION)
    .option('ignore', IGNORE_OPTION)
    .option('ignore-file', IGNORE_FILE_OPTION)
    .option('no-verify', { type: 'boolean', default: false, describe: 'do not read back created objects' })
    .option('yes-to', {
      type: 'string',
      requiresArg: true,
      describe: 'confirm a change of a protected instance',
    })
    .option('rejects', {
      type: 'string',
      requiresArg: true,
      describe: 'write statements that were not applied',
    })
    .option('report', {
      type: 'string',
      requiresArg: true,
      describe: 'write one line of JSON per statement; - is stdout',
    })
    .option('max-record', maxRecordOption(MAX_RECORD));

/** Declares the options of sqlapply. */
export const declareOptions = (cli: CommandLine) =>
  declareReplayOptions(addInstanceOptions(cli))
    .option('allow-plan', {
      type: 'boolean',
      default: false,
      describe: 'also send what a plan needs, as its head says',
    })
    .option('stale-ok', {
      type: 'boolean',
      default: false,
      describe: 'apply an outdated plan',
    })
    .option('json', { type: 'boolean', default: false, describe: 'with --dry-run: print JSON lines' })
    .option('annotations', ANNOTATIONS_OPTION)
    .option('allow-empty', {
      type: 'boolean',
      default: false,
      describe: 'accept empty input as a stream without statements',
    });
