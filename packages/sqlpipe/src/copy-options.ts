import { type Args, CONNECTION_OPTIONS } from '@sqlpipe/cli';
import { REPLAY_OPTIONS } from '@sqlpipe/sqlapply/options';
import { SELECTION_OPTIONS } from '@sqlpipe/sqldump/options';

/** The options of sqldump and sqlapply, except the ones for files and for a single instance. */
export const OPTIONS = { ...CONNECTION_OPTIONS, ...SELECTION_OPTIONS, ...REPLAY_OPTIONS };

export type CopyArgs = Args<typeof OPTIONS>;
