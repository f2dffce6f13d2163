/*! The options of sqldiff. */
import {
  ALLOW_LOSS_OPTION,
  ANNOTATIONS_OPTION,
  type ArgsOf,
  addInstanceOptions,
  type CommandLine,
  EXCLUDE_OPTION,
  IGNORE_FILE_OPTION,
  IGNORE_OPTION,
  INCLUDE_OPTION,
  maxRecordOption,
  OUTPUT_OPTION,
  RENAMED_OPTION,
} from '@sqlpipe/cli';
import { MAX_RECORD } from '@sqlpipe/records';

/** The options as the command line has them. */
export type DiffOptions = ArgsOf<typeof declareOptions>;

/** Declares them. */
export const declareOptions = (cli: CommandLine) =>
  addInstanceOptions(cli)
    .option('output', OUTPUT_OPTION)
    .option('names', { type: 'boolean', default: false, describe: 'print only the names of objects that differ' })
    .option('text', { type: 'boolean', default: false, describe: 'print a unified diff of the statements' })
    .option('json', { type: 'boolean', default: false, describe: 'print one line of JSON per difference' })
    .option('annotations', ANNOTATIONS_OPTION)
    .option('missing', { type: 'boolean', default: false, describe: 'write a stream of the objects that only A has' })
    .option('alter', { type: 'boolean', default: false, describe: 'write the statements that turn B into A' })
    .option('allow-loss', ALLOW_LOSS_OPTION)
    .option('renamed', RENAMED_OPTION)
    .option('rebuild', {
      type: 'string',
      array: true,
      default: [],
      describe: 'with --alter: recreate a table to change it',
    })
    .option('drop-old', {
      type: 'boolean',
      default: false,
      describe: 'with --rebuild: drop the old table',
    })
    .option('undo', {
      type: 'string',
      requiresArg: true,
      describe: 'with --alter: also write the way back',
    })
    .option('ignore', IGNORE_OPTION)
    .option('ignore-file', IGNORE_FILE_OPTION)
    .option('label', {
      type: 'string',
      array: true,
      default: [],
      describe: 'a name for A; the second time, for B',
    })
    .option('ignore-extra', { type: 'boolean', default: false, describe: 'ignore objects that only B has' })
    .option('ignore-owner', { type: 'boolean', default: false, describe: 'ignore differences in OWNED BY' })
    .option('include', INCLUDE_OPTION)
    .option('exclude', EXCLUDE_OPTION)
    .option('max-record', maxRecordOption(MAX_RECORD));
