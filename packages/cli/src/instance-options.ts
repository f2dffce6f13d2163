/*!
 * The options of every program that talks to an instance. No option's value is a secret: every user of the machine can
 * read argv.
 */
import type { Argv } from 'yargs';

/** How these options are typed. */
export const CONNECTION_FLAGS = [
  '--user',
  '--password-file',
  '--token-file',
  '--netrc-file',
  '--cacert',
  '--insecure',
  '--timeout',
  '--connect-timeout',
];

/** Adds who to be and how to connect; INSTANCE itself is an operand. */
export const addInstanceOptions = <Options>(cli: Argv<Options>) =>
  cli
    .option('user', { type: 'string', requiresArg: true, describe: 'user name for basic authentication' })
    .option('password-file', { type: 'string', requiresArg: true, describe: 'file with the password' })
    .option('token-file', { type: 'string', requiresArg: true, describe: 'file with a bearer token' })
    .option('netrc-file', { type: 'string', requiresArg: true, describe: 'file to read instead of ~/.netrc' })
    .option('cacert', { type: 'string', requiresArg: true, describe: 'certificates to trust (PEM)' })
    .option('insecure', { type: 'boolean', describe: 'accept any TLS certificate' })
    .option('timeout', {
      type: 'number',
      requiresArg: true,
      describe: 'maximum wait for a reply or its next row (default: 120)',
    })
    .option('connect-timeout', {
      type: 'number',
      requiresArg: true,
      describe: 'maximum wait for a connection (default: 10)',
    });
