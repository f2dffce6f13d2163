/*! The options of `sqlpipe copy`: those of sqldump and sqlapply, except the ones for files and for a single instance. */
import { type ArgsOf, addConnectionOptions, type CommandLine } from '@sqlpipe/cli';
import { declareReplayOptions } from '@sqlpipe/sqlapply/options';
import { declareSelectionOptions } from '@sqlpipe/sqldump/options';

/** The options as the command line has them. */
export type CopyOptions = ArgsOf<typeof declareOptions>;

/** Declares them. */
export const declareOptions = (cli: CommandLine) =>
  declareReplayOptions(declareSelectionOptions(addConnectionOptions(cli)));
