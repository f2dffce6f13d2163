/*! The options of sqldump. */
import {
  type ArgsOf,
  addInstanceOptions,
  type CommandLine,
  EXCLUDE_OPTION,
  INCLUDE_OPTION,
  maxRecordOption,
  OUTPUT_OPTION,
} from '@sqlpipe/cli';
import { MAX_RECORD } from '@sqlpipe/records';

/** The options as the command line has them. */
export type DumpOptions = ArgsOf<typeof declareOptions>;

/** Declares the options that say what the dump contains. */
export const declareSelectionOptions = <Options>(cli: CommandLine<Options>) =>
  cli
    .option('include', INCLUDE_OPTION)
    .option('exclude', EXCLUDE_OPTION)
    .option('via', {
      choices: ['auto', 'database', 'catalogue'] as const,
      default: 'auto' as const,
      describe: 'one query, or object by object',
    })
    .option('verbatim', {
      type: 'boolean',
      default: false,
      describe: 'do not repair what the server prints wrongly',
    })
    .option('no-owner', { type: 'boolean', default: false, describe: 'remove OWNED BY clauses' })
    .option('skip-invalid', { type: 'boolean', default: false, describe: 'leave out invalid views' })
    .option('partial', {
      type: 'boolean',
      default: false,
      describe: 'leave out objects that may not be read',
    });

/** Declares them. */
export const declareOptions = (cli: CommandLine) =>
  declareSelectionOptions(
    addInstanceOptions(cli)
      .option('with-deps', { type: 'boolean', default: false, describe: 'also dump what the named objects need' })
      .option('output', OUTPUT_OPTION)
      .option('text', { type: 'boolean', default: false, describe: 'write .sql text instead of a stream' }),
  )
    .option('max-record', maxRecordOption(MAX_RECORD))
    .option('list-instances', { type: 'boolean', default: false, describe: 'print the names in instances.toml' });
