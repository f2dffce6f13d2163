import { type Args, FLAG, inGroup, type OptionSpecs, SEVERAL, SHARED_OPTIONS, VALUE } from '@sqlpipe/cli';

export type DiffArgs = Args<typeof OPTIONS>;

export const OPTIONS = {
  ...inGroup('Compare options:', {
    names: { ...FLAG, describe: 'print only the names of objects that differ' },
    text: { ...FLAG, describe: 'print a unified diff of the statements' },
    json: { ...FLAG, describe: 'print one line of JSON per difference' },
    annotations: SHARED_OPTIONS.annotations,
    ...SHARED_OPTIONS.ignore,
    'ignore-extra': { ...FLAG, describe: 'ignore objects that only B has' },
    'ignore-owner': { ...FLAG, describe: 'ignore differences in OWNED BY' },
    include: SHARED_OPTIONS.include,
    exclude: SHARED_OPTIONS.exclude,
    label: { ...SEVERAL, placeholder: 'NAME', describe: 'a name for A; the second time, for B' },
  }),
  ...inGroup('Plan options:', {
    alter: { ...FLAG, describe: 'write the statements that turn B into A' },
    missing: { ...FLAG, describe: 'write a stream of the objects that only A has' },
    ...SHARED_OPTIONS.plan,
    rebuild: { ...SEVERAL, placeholder: 'TABLE', describe: 'with --alter: recreate a table to change it' },
    'drop-old': { ...FLAG, describe: 'with --rebuild: drop the old table' },
    undo: { ...VALUE, describe: 'with --alter: also write the way back' },
  }),
  output: SHARED_OPTIONS.output,
  'max-record': SHARED_OPTIONS.maxRecord,
  ...SHARED_OPTIONS.instance,
} as const satisfies OptionSpecs;
