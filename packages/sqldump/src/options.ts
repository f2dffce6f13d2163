import { type Args, FLAG, type Io, type OptionSpecs, SHARED_OPTIONS } from '@sqlpipe/cli';
import type { DumpOptions } from '@sqlpipe/instance';

export type DumpArgs = Args<typeof OPTIONS>;

export const SELECTION_OPTIONS = {
  include: SHARED_OPTIONS.include,
  exclude: SHARED_OPTIONS.exclude,
  via: { choices: ['auto', 'database', 'catalogue'], default: 'auto', describe: 'one query, or object by object' },
  verbatim: { ...FLAG, describe: 'do not repair what the server prints wrongly' },
  'no-owner': { ...FLAG, describe: 'remove OWNED BY clauses' },
  'skip-invalid': { ...FLAG, describe: 'leave out invalid views' },
  partial: { ...FLAG, describe: 'leave out objects that may not be read' },
} as const satisfies OptionSpecs;

export const OPTIONS = {
  ...SHARED_OPTIONS.instance,
  'with-deps': { ...FLAG, describe: 'also dump what the named objects need' },
  output: SHARED_OPTIONS.output,
  text: { ...FLAG, describe: 'write .sql text instead of a stream' },
  ...SELECTION_OPTIONS,
  'max-record': SHARED_OPTIONS.maxRecord,
  'list-instances': { ...FLAG, describe: 'print the names in instances.toml' },
} as const satisfies OptionSpecs;

type CopyOption = 'via' | 'verbatim' | 'noOwner' | 'skipInvalid' | 'partial' | 'maxRecord';

/** The options of a dump that `sqlpipe copy` has, too. Each is named, so that the compiler notices if `dump` calls it otherwise. */
export function toDumpOptions(
  { via, verbatim, noOwner, skipInvalid, partial, maxRecord }: Pick<DumpArgs, CopyOption>,
  { warn, info }: Io,
): Omit<DumpOptions, 'selection' | 'names' | 'withDeps' | 'reportInvalid' | 'signal'> {
  return { via, verbatim, noOwner, skipInvalid, partial, maxRecord, warn, info };
}
