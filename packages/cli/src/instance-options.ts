/*!
 * The options of every program that talks to an instance. No option's value is a secret: every user of the machine can
 * read argv.
 */
import { escapeControls } from '@sqlpipe/text';
import type { Argv } from 'yargs';
import { Exit, UsageError } from './exit.js';
import type { Io } from './io.js';

/** The connection options, as typed. */
export const CONNECTION_FLAGS = [
  '--user',
  '--password-file',
  '--token-file',
  '--netrc-file',
  '--cacert',
  '--insecure',
  '--timeout',
  '--connect-timeout',
  '--retries',
  '--show-config',
];

/** Adds the options for credentials and for the connection. INSTANCE itself is an operand. */
export const addInstanceOptions = <Options>(cli: Argv<Options>) =>
  addConnectionOptions(
    cli
      .option('user', { type: 'string', requiresArg: true, describe: 'user name for basic authentication' })
      .option('password-file', { type: 'string', requiresArg: true, describe: 'file with the password' })
      .option('token-file', { type: 'string', requiresArg: true, describe: 'file with a bearer token' }),
  );

/** Adds the options for connections to several instances: credentials would not say which of them they are for. */
export const addConnectionOptions = <Options>(cli: Argv<Options>) =>
  cli
    .option('netrc-file', { type: 'string', requiresArg: true, describe: 'file to read instead of ~/.netrc' })
    .option('cacert', { type: 'string', requiresArg: true, describe: 'certificates to trust (PEM)' })
    .option('insecure', { type: 'boolean', describe: 'accept any TLS certificate' })
    .option('timeout', {
      type: 'number',
      requiresArg: true,
      describe: 'maximum wait for a reply or a row (default: 120)',
    })
    .option('connect-timeout', {
      type: 'number',
      requiresArg: true,
      describe: 'maximum wait for a connection (default: 10)',
    })
    .option('retries', {
      type: 'number',
      requiresArg: true,
      describe: 'retries if the network fails (default: 0)',
    })
    .option('show-config', { type: 'boolean', describe: 'print these settings and their sources' });

/** Rejects --insecure if it would apply to several instances. @throws UsageError */
export function rejectSharedInsecure(insecure: boolean | undefined, urls: readonly URL[]): void {
  if (insecure && urls.filter(({ protocol }) => protocol === 'https:').length > 1)
    throw new UsageError(
      '--insecure would accept any certificate from both instances; to accept any from one of them, set tls_verify = false in its entry in instances.toml, or tls_verify=unsafe_off; in its configuration string',
    );
}

/** One line of `--show-config`. */
interface Setting {
  readonly name: string;
  readonly value: string;
  readonly source: string;
}

/** Prints the settings of instances, in columns, with an empty line between two instances. */
export async function printSettings(
  instances: readonly (readonly Setting[])[],
  { print }: Pick<Io, 'print'>,
): Promise<number> {
  await print(instances.map(formatSettings).join('\n'));
  return Exit.ok;
}

function formatSettings(settings: readonly Setting[]): string {
  const width = (key: 'name' | 'value') => Math.max(...settings.map(each => escapeControls(each[key]).length));
  const [names, values] = [width('name'), width('value')];
  return settings
    .map(
      ({ name, value, source }) =>
        `${name.padEnd(names)}  ${escapeControls(value).padEnd(values)}  ${escapeControls(source)}\n`,
    )
    .join('');
}
