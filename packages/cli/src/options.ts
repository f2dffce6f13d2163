/*! The options that several programs share. No option's value is a secret: every user of the machine can read argv. */
import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { CATEGORY_KINDS, MAX_RECORD } from '@sqlpipe/sql';
import { CodedError, escapeControls, formatMessage, systemErrorReason } from '@sqlpipe/text';
import { Exit, UsageError } from './exit-status.js';
import type { Io } from './io.js';
import { type Args, CONNECTION_GROUP, type OptionSpecs } from './program.js';

/** An option without a value. */
export const FLAG = { type: 'boolean', default: false } as const;

/** An option with a value. */
export const VALUE = { type: 'string', requiresArg: true } as const;

/** An option with a number. */
export const NUMBER = { type: 'number', requiresArg: true } as const;

/** An option that may be given several times. */
export const SEVERAL = { ...VALUE, array: true, default: [] } as const;

/** Puts options under a title of their own in the help. */
export const inGroup = <Specs extends OptionSpecs>(group: string, specs: Specs): Specs =>
  Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, { group, ...spec }])) as Specs;

const CONNECTION = inGroup(CONNECTION_GROUP, {
  'netrc-file': { ...VALUE, describe: 'file to read instead of ~/.netrc' },
  cacert: { ...VALUE, describe: 'certificates to trust (PEM)' },
  insecure: { type: 'boolean', describe: 'accept any TLS certificate' },
  timeout: { ...NUMBER, placeholder: 'SECS', describe: 'maximum wait for a reply or a row (default: 120)' },
  'connect-timeout': { ...NUMBER, placeholder: 'SECS', describe: 'maximum wait for a connection (default: 10)' },
  retries: { ...NUMBER, placeholder: 'NUMBER', describe: 'retries if the network fails (default: 0)' },
  'show-config': { type: 'boolean', describe: 'print these settings and their sources' },
} as const);

const INCLUDE = {
  ...SEVERAL,
  placeholder: 'KINDS',
  completions: [...CATEGORY_KINDS.keys()],
  describe: 'select kinds such as table, or TABLES, ACL, …',
} as const;

/** Options that several programs share, and groups of them. */
export const SHARED_OPTIONS = {
  /** For connections to several instances: without credentials, which may be for any of these. */
  connection: CONNECTION,
  /** For one instance, which itself is an operand. */
  instance: {
    ...inGroup(CONNECTION_GROUP, {
      user: { ...VALUE, placeholder: 'NAME', describe: 'user name for basic authentication' },
      'password-file': { ...VALUE, describe: 'file with the password' },
      'token-file': { ...VALUE, describe: 'file with a bearer token' },
    } as const),
    ...CONNECTION,
  },
  include: INCLUDE,
  exclude: { ...INCLUDE, describe: 'select everything except these' },
  /** What a plan of changes may lose, and what it renames. */
  plan: {
    'allow-loss': { ...SEVERAL, placeholder: 'NAME', describe: 'allow one loss, such as drop:trades.qty' },
    renamed: { ...SEVERAL, placeholder: 'OLD=NEW', describe: 'with --alter: a renamed object or column' },
  },
  ignore: {
    ignore: { ...SEVERAL, placeholder: 'PATTERN', describe: "ignore tmp_*, grant, or 'trades: TTL'" },
    'ignore-file': { ...VALUE, describe: 'ignore these, one pattern per line' },
  },
  annotations: { ...FLAG, describe: 'print findings as GitHub annotations' },
  output: { ...VALUE, alias: 'o', describe: 'write to FILE; NAME.sql gets text' },
  maxRecord: {
    ...NUMBER,
    default: MAX_RECORD,
    placeholder: 'BYTES',
    describe: 'maximum length of a record',
    /** Checks the number, or all numbers if the option is repeated. @throws UsageError for an invalid number */
    coerce(given: number): number {
      if (![given].flat().every(number => Number.isInteger(number) && number >= 1))
        throw new UsageError('--max-record must be a whole number of at least 1');
      return given;
    },
  },
} as const;

/** Rejects --insecure if it would apply to several instances. @throws UsageError */
export function rejectSharedInsecure(insecure: boolean | undefined, urls: readonly URL[]): void {
  if (insecure && urls.filter(({ protocol }) => protocol === 'https:').length > 1)
    throw new UsageError(
      formatMessage('--insecure would accept any certificate from both instances', [
        'hint: accept any from one of them: set tls_verify = false in its entry in instances.toml',
        'hint: or set tls_verify=unsafe_off; in its configuration string',
      ]),
    );
}

type SettingLine = Readonly<Record<'name' | 'value' | 'source', string>>;

/** Writes the settings of instances to standard output, in columns, with an empty line between two instances. */
export async function writeSettings(instances: readonly (readonly SettingLine[])[], { write }: Io): Promise<number> {
  const tables = instances.map(settings => {
    const width = (key: 'name' | 'value') => Math.max(...settings.map(each => escapeControls(each[key]).length));
    const [names, values] = [width('name'), width('value')];
    const format = ({ name, value, source }: SettingLine) =>
      `${name.padEnd(names)}  ${escapeControls(value).padEnd(values)}  ${escapeControls(source)}\n`;
    return settings.map(format).join('');
  });
  await write(tables.join('\n'));
  return Exit.ok;
}

/** The patterns of `--ignore`, then those of `--ignore-file`. @throws CodedError if the file cannot be read */
export const readIgnorePatterns = async ({ ignore, ignoreFile }: Args<typeof SHARED_OPTIONS.ignore>) =>
  ignoreFile === undefined ? ignore : [...ignore, ...(await readRuleFile('--ignore-file', ignoreFile))];

/** The rules in a UTF-8 file, one per line; empty lines and `#` lines are ignored. @throws CodedError if the file cannot be read */
export async function readRuleFile(option: string, path: string): Promise<string[]> {
  const bytes = await readFile(path).catch(error => {
    throw new CodedError('NOINPUT', `${option} ${path}: cannot be read: ${systemErrorReason(error)}`);
  });
  if (!isUtf8(bytes)) throw new CodedError('NOINPUT', `${option} ${path}: not UTF-8; iconv converts other encodings`);
  return bytes
    .toString()
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .filter(line => line.trim() !== '' && !line.trimStart().startsWith('#'));
}
