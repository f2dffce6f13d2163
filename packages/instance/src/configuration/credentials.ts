/*! Sources of credentials are read from the most specific to the most general. The first one with any decides: password or token. */
import type { ChildProcess } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { escapeControls, formatExcerpt, maskSecrets } from '@sqlpipe/text';
import { configError } from '../instance-error.js';
import { type Address, formatAddress } from './address.js';
import type { ConnectionOptions, Credentials, ResolveContext } from './connection-config.js';
import type { InstanceEntry } from './named-instances.js';
import { decodeSecret, isNotFound, readError, readSecretLine, requirePrivate } from './secret-file.js';

/** A source is read only if the sources before it were not sufficient. */
interface CredentialSource {
  name: string;
  /** Where each value comes from, for messages, if it is not the name. */
  places?: Partial<Record<keyof Credentials, string>>;
  /** @param user the user that earlier sources decided on, for sources with several users */
  read(user?: string): Promise<Credentials> | Credentials;
}

/**
 * The credentials; undefined if there are none. The user of one source, such as `--user`, is combined with the password of a later source,
 * such as `SQLDUMP_PASSWORD`. A later source with another user is skipped.
 */
export async function resolveAuthorization(
  address: Address,
  entry: InstanceEntry | undefined,
  timeout: number,
  help: string,
  context: ResolveContext,
) {
  const { credentials, options = {}, program, env } = context;
  const sources = [
    ...(credentials ? [{ name: 'the options', read: () => credentials }] : []),
    fromOptions(options),
    fromAddress(address, context),
    fromEnvironment(program, env),
    ...(entry ? [fromEnvironment(`sqlpipe_${entry.name}`, env), fromEntry(entry, env, timeout)] : []),
    fromNetrc(address.url, options.netrcFile, env.HOME),
    fromPrompt(formatAddress(address.url), context),
  ];
  let user: { value: string; source: CredentialSource } | undefined;
  let password: typeof user;
  for (const source of sources) {
    const found = await source.read(user?.value);
    if (found.token !== undefined) {
      if (found.user !== undefined || found.password !== undefined)
        throw configError(`${source.name} has both a token and a user or password; remove one of them`);
      if (user === undefined && password === undefined)
        return {
          authorization: bearerHeader(found.token, source.name),
          account: `a token (${source.name})`,
          settings: [{ name: 'token', value: HIDDEN, source: placeOf(source, 'token') }],
        };
      continue;
    }
    if (user && found.user !== undefined && found.user !== user.value) continue;
    if (found.user !== undefined) user ??= { value: found.user, source };
    // The user is not shown: it may be `user:password`.
    if (user?.value.includes(':'))
      throw configError('a user name cannot contain a ":"; give the password separately, as with --password-file');
    if (found.password !== undefined) password ??= { value: found.password, source };
    if (user && password) {
      // A user in the address may be a token.
      const isUserShown = user.source.name !== ADDRESS_SOURCE;
      return {
        // The server expects UTF-8, and "Basic" in exactly this case (observed on 9.3.4).
        authorization: `Basic ${Buffer.from(`${user.value}:${password.value}`).toString('base64')}`,
        user: user.value,
        account: isUserShown
          ? `user '${escapeControls(user.value)}' (${placeOf(user.source, 'user')})`
          : `the user in ${ADDRESS_SOURCE}`,
        settings: [
          { name: 'user', value: isUserShown ? user.value : HIDDEN, source: placeOf(user.source, 'user') },
          { name: 'password', value: HIDDEN, source: placeOf(password.source, 'password') },
        ],
      };
    }
  }
  if (user) throw configError(`a user is given, but no password; ${help}`);
  if (password) throw configError(`a password is given, but no user; ${help}`);
  return undefined;
}

const placeOf = ({ name, places }: CredentialSource, value: keyof Credentials): string => places?.[value] ?? name;

const HIDDEN = '***';

export const ADDRESS_SOURCE = 'the address';

function bearerHeader(token: string, source: string): string {
  if (!/^[\x21-\x7e]+$/.test(token))
    throw configError(
      `the token from ${source} contains blanks, control characters or non-ASCII characters; is it the token and nothing else?`,
    );
  return `Bearer ${token}`;
}

const fromOptions = ({ user, passwordFile, tokenFile }: ConnectionOptions): CredentialSource => ({
  name: 'the command line',
  places: { user: '--user', password: '--password-file', token: '--token-file' },
  read: async () => ({
    user,
    password: passwordFile && (await readSecretLine(passwordFile, '--password-file')),
    token: tokenFile && (await readSecretLine(tokenFile, '--token-file')),
  }),
});

const fromAddress = ({ user, password, token }: Address, context: ResolveContext): CredentialSource => ({
  name: ADDRESS_SOURCE,
  read() {
    if (!context.credentials && (password !== undefined || token !== undefined))
      context.warn(
        'the address contains a secret, which others on this machine can see; use an environment variable instead',
      );
    return { user, password, token };
  },
});

/** Empty variables count as not set. */
function fromEnvironment(name: string, env: ResolveContext['env']): CredentialSource {
  const prefix = name.toUpperCase().replace(/[^A-Z0-9]/g, '_');
  return {
    name: `${prefix}_TOKEN`,
    places: { user: `${prefix}_USER`, password: `${prefix}_PASSWORD` },
    read: () => ({
      user: env[`${prefix}_USER`] || undefined,
      password: env[`${prefix}_PASSWORD`] || undefined,
      token: env[`${prefix}_TOKEN`] || undefined,
    }),
  };
}

function fromEntry(
  { name, user, password_file, token_file, token_command, place }: InstanceEntry,
  env: ResolveContext['env'],
  timeout: number,
): CredentialSource {
  const tokenKey = token_file === undefined ? 'token_command' : 'token_file';
  return {
    name: `[${name}] in instances.toml`,
    places: { user: place, password: `password_file in ${place}`, token: `${tokenKey} in ${place}` },
    read: async () => ({
      user,
      password: password_file && (await readSecretLine(password_file, `password_file of ${name}`)),
      token: token_file
        ? await readSecretLine(token_file, `token_file of ${name}`)
        : token_command && (await runTokenCommand(token_command, name, env, timeout)),
    }),
  };
}

const fromPrompt = (address: string, { promptSecret, options }: ResolveContext): CredentialSource => ({
  name: 'the terminal',
  async read(user) {
    if (user === undefined) return {};
    if (options?.showConfig) return { password: 'whatever the answer is' };
    return { password: (await promptSecret?.(`password of ${user} at ${address}`)) || undefined };
  },
});

/**
 * What a shell command prints. Its stdin is empty, because ours may be a statement stream.
 * @throws InstanceError if the command fails, prints nothing, or runs longer than `timeout` (milliseconds; 0 for no limit)
 */
async function runTokenCommand(command: string, name: string, env: ResolveContext['env'], timeout: number) {
  const { execFile } = await import('node:child_process'); // few runs need it
  const run = promisify(execFile)('/bin/sh', ['-c', command], { env });
  run.child.stdin?.end();
  let isLate = false;
  const end = () => {
    isLate = true;
    void endWithDescendants(run.child);
  };
  const timer = timeout > 0 ? setTimeout(end, timeout) : undefined;
  const { stdout } = await run
    .finally(() => clearTimeout(timer))
    .catch(error => {
      if (isLate)
        throw configError(
          `token_command of ${name} did not end within ${timeout / 1000} s; does it wait for input? --timeout waits longer`,
        );
      const stderr = maskSecrets(String(error.stderr ?? ''), [String(error.stdout ?? '').trim()]).trim();
      const ending = error.signal ? `ended by ${error.signal}` : `exit status ${error.code}`;
      throw configError(`token_command of ${name} failed: ${formatExcerpt(stderr || ending, 200)}`);
    });
  const token = stdout.replace(/\r?\n$/, '');
  if (token === '') throw configError(`token_command of ${name} printed nothing; it must print the token`);
  return token;
}

/** Ends a command and all that it has started. A process group would have no terminal, on which a password manager may ask. */
async function endWithDescendants(command: ChildProcess): Promise<void> {
  const execFile = promisify((await import('node:child_process')).execFile);
  const list = await execFile('ps', ['-A', '-o', 'pid=,ppid=']).catch(() => ({ stdout: '' })); // not every system has it
  const parents = list.stdout
    .trim()
    .split('\n')
    .map(line => line.trim().split(/ +/).map(Number));
  const ended = new Set([command.pid]);
  for (const each of ended) for (const [child = 0, parent] of parents) if (parent === each) ended.add(child); // the set grows
  await execFile('/bin/sh', ['-c', 'kill -KILL "$@"', 'sh', ...Array.from(ended, String)]).catch(() => {}); // some have ended
  command.stdout?.destroy();
  command.stderr?.destroy();
}

const TOKEN = /"((?:[^"\\]|\\.)*)"|#[^\n]*|([^\s"]\S*)/gs;

/** A macro ends at an empty line. */
const MACRO = /^[ \t]*macdef(?:.|\n(?![ \t]*\n))*/gm;

/** The entry `default` has no host. Messages quote nothing, because any word may be a secret. */
export function parseNetrc(text: string, path: string) {
  const entries: { host?: string; login?: string; password?: string }[] = [];
  const tokens = Array.from(text.replace(MACRO, '').matchAll(TOKEN), ([, quoted, word]) =>
    quoted === undefined ? word : quoted.replace(/\\(.)/gs, '$1'),
  );
  const words = tokens.filter(each => each !== undefined).values();
  for (const keyword of words) {
    if (keyword === 'default') {
      entries.push({});
      continue;
    }
    const { value } = words.next();
    if (value === undefined)
      throw configError(
        `the netrc file ${path} ends with a keyword without a value; put values with blanks in double quotes`,
      );
    const entry = entries.at(-1);
    if (keyword === 'machine') entries.push({ host: value.toLowerCase() });
    else if (entry && (keyword === 'login' || keyword === 'password')) entry[keyword] = value;
  }
  return entries;
}

/**
 * The first entry for a host, but not the entry `default`. A password without a login is a token.
 * @param file a file, which must exist; by default `~/.netrc`, if it exists
 */
function fromNetrc({ hostname }: URL, file: string | undefined, home: string | undefined): CredentialSource {
  const path = file ?? (home && join(home, '.netrc'));
  const place = `netrc ${path}`;
  return {
    name: 'netrc',
    places: { user: place, password: place, token: place },
    async read(user): Promise<Credentials> {
      if (!path) return {};
      const read = readFile(path).then(decodeSecret);
      const text = await read.catch(error => {
        if (file === undefined && isNotFound(error)) return undefined;
        throw readError('the netrc file', path, error);
      });
      if (!text) return {};
      const entry = parseNetrc(text, path).find(
        ({ host, login }) => host === hostname && (user === undefined || login === undefined || login === user),
      );
      if (!entry) return {};
      requirePrivate(await stat(path), path, 'the netrc file');
      const { login, password } = entry;
      return login === undefined && user === undefined ? { token: password } : { user: login, password };
    },
  };
}
