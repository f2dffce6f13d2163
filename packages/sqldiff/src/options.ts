import {
  ANNOTATIONS_OPTION,
  type Args,
  EXCLUDE_OPTION,
  FLAG,
  IGNORE_OPTIONS,
  INCLUDE_OPTION,
  INSTANCE_OPTIONS,
  inGroup,
  MAX_RECORD_OPTION,
  type OptionSpecs,
  OUTPUT_OPTION,
  PLAN_OPTIONS,
  SEVERAL,
  VALUE,
} from '@sqlpipe/cli';

export type DiffArgs = Args<typeof OPTIONS>;

export const OPTIONS = {
  ...inGroup('Compare options:', {
    names: { ...FLAG, describe: 'print only the names of objects that differ' },
    text: { ...FLAG, describe: 'print a unified diff of the statements' },
    json: { ...FLAG, describe: 'print one line of JSON per difference' },
    annotations: ANNOTATIONS_OPTION,
    ...IGNORE_OPTIONS,
    'ignore-extra': { ...FLAG, describe: 'ignore objects that only B has' },
    'ignore-owner': { ...FLAG, describe: 'ignore differences in OWNED BY' },
    include: INCLUDE_OPTION,
    exclude: EXCLUDE_OPTION,
    label: { ...SEVERAL, placeholder: 'NAME', describe: 'a name for A; the second time, for B' },
  }),
  ...inGroup('Plan options:', {
    alter: { ...FLAG, describe: 'write the statements that turn B into A' },
    missing: { ...FLAG, describe: 'write a stream of the objects that only A has' },
    ...PLAN_OPTIONS,
    rebuild: { ...SEVERAL, placeholder: 'TABLE', describe: 'with --alter: recreate a table to change it' },
    'drop-old': { ...FLAG, describe: 'with --rebuild: drop the old table' },
    undo: { ...VALUE, describe: 'with --alter: also write the way back' },
  }),
  output: OUTPUT_OPTION,
  'max-record': MAX_RECORD_OPTION,
  ...INSTANCE_OPTIONS,
} as const satisfies OptionSpecs;
