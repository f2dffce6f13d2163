import { type Args, FLAG, NUMBER, type OptionSpecs, SEVERAL, SHARED_OPTIONS, VALUE } from '@sqlpipe/cli';

export type ApplyArgs = Args<typeof OPTIONS>;

export type RunArgs = Args<typeof REPLAY_OPTIONS> & Pick<ApplyArgs, 'json' | 'annotations' | 'staleOk' | 'allowPlan'>;

/** Whether standard output is used for data, so that a dry run must not print there. */
export const hasDataOnStdout = ({ report, rejects, json, annotations }: RunArgs): boolean =>
  json || annotations || [report, rejects].includes('-');

export const REPLAY_OPTIONS = {
  'dry-run': { ...FLAG, alias: 'n', describe: 'print what would happen; change nothing' },
  'if-exists': { choices: ['compare', 'fail', 'skip'], default: 'compare', describe: 'what to do if an object exists' },
  'keep-going': { ...FLAG, alias: 'k', describe: 'continue after a rejected statement' },
  stream: { ...FLAG, describe: 'send records as they arrive' },
  wait: { ...NUMBER, placeholder: 'SECS', describe: 'maximum wait for the server to start' },
  jobs: { ...NUMBER, alias: 'j', default: 1, placeholder: 'NUMBER', describe: 'number of statements in flight' },
  allow: { ...SEVERAL, placeholder: 'VERBS', describe: 'also send these: ALTER, DROP, CTAS, REPLACE, all' },
  alter: { ...FLAG, describe: 'alter existing objects that differ' },
  ...SHARED_OPTIONS.plan,
  ...SHARED_OPTIONS.ignore,
  'no-verify': { ...FLAG, describe: 'do not read back created objects' },
  'yes-to': {
    ...VALUE,
    placeholder: 'NAME',
    completions: 'instances',
    describe: 'confirm a change of a protected instance',
  },
  rejects: { ...VALUE, describe: 'write statements that were not applied' },
  report: { ...VALUE, describe: 'write one line of JSON per statement; - is stdout' },
  'max-record': SHARED_OPTIONS.maxRecord,
} as const satisfies OptionSpecs;

export const OPTIONS = {
  ...SHARED_OPTIONS.instance,
  ...REPLAY_OPTIONS,
  'allow-plan': { ...FLAG, describe: 'also send what a plan needs, as its head says' },
  'stale-ok': { ...FLAG, describe: 'apply an outdated plan' },
  json: { ...FLAG, describe: 'with --dry-run: print JSON lines' },
  annotations: SHARED_OPTIONS.annotations,
  'allow-empty': { ...FLAG, describe: 'accept empty input as a stream without statements' },
} as const satisfies OptionSpecs;
