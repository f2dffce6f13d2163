/*! Resolves the INSTANCE operand, the options and the environment to a `ResolvedInstance`. */
import { readFile } from 'node:fs/promises';
import { escapeControls, suggestWord } from '@sqlpipe/sql';
import { type Address, parseAddress } from './address.js';
import type { ResolvedInstance } from './connection-config.js';
import { ADDRESS_SOURCE, type CredentialSource, type Credentials, resolveAuthorization } from './credentials.js';
import { InstanceError } from './instance-error.js';
import { type InstanceEntry, instancesPath, readInstances } from './instances-file.js';
import { fromNetrc } from './netrc.js';
import { findProxy } from './proxy.js';
import { readError, readSecretLine } from './secret-file.js';
import { firstGiven, settingOf } from './settings.js';
import { runTokenCommand } from './token-command.js';

/** Where an address and credentials may come from besides the INSTANCE operand. */
export interface ResolveContext {
  /** The program's name, which its environment variables start with: `sqldump` reads `SQLDUMP_USER`. */
  program: string;
  env: Readonly<Record<string, string | undefined>>;
  options?: InstanceOptions;
  /** Credentials that a calling program has itself; they come before all others. */
  credentials?: Credentials | undefined;
  /** Called with a warning about an unwise setting: one sentence, without a secret. */
  warn(message: string): void;
  /** Receives what is waited for, one line each. */
  info?: ((message: string) => void) | undefined;
  /** Called for each request that has ended, without secrets: method, address, status and time. */
  logRequest?: ((message: string) => void) | undefined;
  /** Prompts for a secret that no other source has; undefined without a terminal. */
  promptSecret?(question: string): Promise<string | undefined>;
}

/** The options about an instance, each as the command line option of that name. */
export interface InstanceOptions {
  user?: string | undefined;
  passwordFile?: string | undefined;
  tokenFile?: string | undefined;
  netrcFile?: string | undefined;
  cacert?: string | undefined;
  insecure?: boolean | undefined;
  /** The maximum time for a complete reply, or between two rows of it, in seconds; 0 for no limit. */
  timeout?: number | undefined;
  /** The maximum time for connecting, in seconds; 0 for no limit. */
  connectTimeout?: number | undefined;
  /** Maximum number of retries of one request. */
  retries?: number | undefined;
  /** Whether the settings are only shown: then nothing prompts for a password. */
  showConfig?: boolean | undefined;
}

/** The source of a value that the user has not set. */
const DEFAULT = 'default';

/** Seconds. By itself a server ends a query after 60 s. */
const TIMEOUT = 120;
const CONNECT_TIMEOUT = 10;

/**
 * Resolves the operand INSTANCE, with the credentials that belong to it.
 *
 * A name in `instances.toml` stands for that instance; any other operand is an address (`parseAddress`). Credentials
 * come from the options, the address, the program's variables (`SQLDUMP_USER`, `_PASSWORD`, `_TOKEN`), the named
 * instance's variables (`SQLPIPE_PROD_USER`, …), its entry, and netrc, in this order. If only the user is known, a
 * terminal prompts for the password. Throws `CONFIG`; nothing is sent.
 */
export async function resolveInstance(operand: string, context: ResolveContext): Promise<ResolvedInstance> {
  const { env, options = {} } = context;
  const entry = canBeName(operand) ? (await readInstances(env)).get(operand) : undefined;
  const address = entry ? addressOfEntry(entry, operand, env) : parseOperand(operand, env);
  const place = placeOfEntry(operand, env);
  const foundProxy = findProxy(address.url, env);
  const proxy = foundProxy?.value;
  const help = credentialsHelp(context);
  const timeLimit = (key: string, option: number | undefined, ofEntry: number | undefined, otherwise: number) => {
    const flag = key.replace('_', '-');
    const found = firstGiven([option, `--${flag}`], [ofEntry, place], [otherwise, DEFAULT]);
    const name = option === undefined && entry ? `${key} of ${operand}` : flag;
    return { milliseconds: toMilliseconds(name, found?.value ?? otherwise), setting: settingOf(key, found) };
  };
  const timeout = timeLimit('timeout', options.timeout, entry?.timeout, TIMEOUT);
  const connectTimeout = timeLimit('connect_timeout', options.connectTimeout, entry?.connect_timeout, CONNECT_TIMEOUT);
  const retries = firstGiven([options.retries, '--retries'], [entry?.retries, place], [0, DEFAULT]);
  const sources = [
    ...(context.credentials ? [fromCaller(context.credentials)] : []),
    fromOptions(options),
    fromAddress(address, context),
    fromEnvironment(context.program, env),
    ...(entry
      ? [fromEnvironment(`sqlpipe_${operand}`, env), fromEntry(entry, operand, env, timeout.milliseconds)]
      : []),
    fromNetrc(address.url, options.netrcFile, env.HOME),
    fromPrompt(formatLabel(address.url), context),
  ];
  const { header, account, settings = [] } = (await resolveAuthorization(sources, help)) ?? {};
  const cacert = firstGiven([options.cacert, '--cacert'], [entry?.cacert, place], [address.cacert, ADDRESS_SOURCE]);
  const tlsVerify = firstGiven(
    [options.insecure ? false : undefined, '--insecure'],
    [entry?.tls_verify, place],
    [address.insecure ? false : undefined, ADDRESS_SOURCE],
    [true, DEFAULT],
  );
  if (header !== undefined) warnAboutPlainHttp(address.url, proxy, context);
  if (proxy?.username) warnAboutPlainProxy(proxy, context);
  return {
    label: formatLabel(address.url, proxy),
    url: address.url,
    credentialsHelp: help,
    logRequest: context.logRequest,
    insecure: tlsVerify?.value === false,
    timeout: timeout.milliseconds,
    connectTimeout: connectTimeout.milliseconds,
    retries: toRetries(retries?.value ?? 0),
    onRetry: context.warn,
    info: context.info,
    settings: [
      { name: 'url', value: formatLabel(address.url), source: entry ? place : 'the command line' },
      ...settings,
      ...settingOf('cacert', cacert),
      ...settingOf('tls_verify', tlsVerify),
      ...timeout.setting,
      ...connectTimeout.setting,
      ...settingOf('retries', retries),
      ...settingOf('proxy', foundProxy && { ...foundProxy, value: foundProxy.value.origin }),
      ...settingOf('protected', entry && firstGiven([entry.protected, place], [false, DEFAULT])),
    ],
    ...(entry && { name: operand }),
    protectedNames: async () =>
      entry?.protected === undefined ? findProtected(address.url, env) : entry.protected ? [operand] : [],
    ...(header !== undefined && { authorization: header, account }),
    ...(!entry && { unknownName: await explainUnknownName(operand, env) }),
    ...(cacert !== undefined && { ca: await readCertificates(cacert.value) }),
    ...(proxy && { proxy }),
  };
}

/** The instances that have a name, in the order of the file, with their addresses as messages show them. */
export async function listInstances(env: ResolveContext['env']): Promise<{ name: string; address: string }[]> {
  return [...(await readInstances(env))].map(([name, { url }]) => ({ name, address: labelOfUrl(url) }));
}

function labelOfUrl(url: string): string {
  try {
    return formatLabel(parseAddress(url).url);
  } catch (error) {
    if (error instanceof InstanceError) return NO_ADDRESS; // the reason is reported when the entry is used
    throw error;
  }
}

const NO_ADDRESS = '(its url is not an address)';

const placeOfEntry = (name: string, env: ResolveContext['env']): string => `${instancesPath(env)}: [${name}]`;

/** The names of the protected instances that have an address. */
async function findProtected(url: URL, env: ResolveContext['env']): Promise<string[]> {
  const entries = [...(await readInstances(env))].filter(([, entry]) => entry.protected);
  return entries.filter(([, entry]) => isSameAddress(url, urlIfValid(entry.url))).map(([name]) => name);
}

/** An invalid url of one entry does not matter to the others. */
function urlIfValid(text: string): URL | undefined {
  try {
    return parseAddress(text).url;
  } catch {
    return undefined;
  }
}

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** Whether two addresses are those of one server. The scheme does not matter, because a port has one. */
function isSameAddress(one: URL, other: URL | undefined): boolean {
  if (!other) return false;
  const host = ({ hostname }: URL) => (LOCAL_HOSTS.includes(hostname) ? 'localhost' : hostname.replace(/\.$/, ''));
  const port = ({ port, protocol }: URL) => port || (protocol === 'https:' ? '443' : '80');
  return host(one) === host(other) && port(one) === port(other) && one.pathname === other.pathname;
}

/** The address of an entry. @throws InstanceError that names the entry and the file */
function addressOfEntry({ url }: InstanceEntry, name: string, env: ResolveContext['env']): Address {
  const place = placeOfEntry(name, env);
  if (url === '')
    throw new InstanceError('CONFIG', `${place}: the url is empty; give an address such as http://host:9000`);
  try {
    return parseAddress(url);
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error;
    throw new InstanceError(error.code, `${place}: ${error.message}`, { cause: error });
  }
}

/** An operand of this form is a path, and not a host. */
const PATH = /^(?:\.{0,2}\/|~)|^[^/:@]+\.(?:sql|stream)$/;

function parseOperand(operand: string, env: ResolveContext['env']): Address {
  if (PATH.test(operand))
    throw new InstanceError(
      'CONFIG',
      `${/[@?#;=:]/.test(operand) ? 'the operand' : `"${escapeControls(operand)}"`} is a path, not an instance; give an address such as http://host:9000, or a name in ${instancesPath(env) ?? 'instances.toml'}`,
    );
  return parseAddress(operand);
}

/** Why an operand is used as a host name, and which names are similar to it; undefined if it is certainly a host. */
async function explainUnknownName(operand: string, env: ResolveContext['env']): Promise<string | undefined> {
  if (!canBeName(operand) || operand === 'localhost' || /^[\d.]+$/.test(operand)) return undefined;
  const names = [...(await readInstances(env)).keys()];
  const file = instancesPath(env) ?? 'instances.toml';
  return `"${escapeControls(operand)}" is not in ${file}, so it was treated as a host name${escapeControls(suggestWord(operand, names))}`;
}

/** The maximum is 2^31 - 1 ms (25 days), because a timer accepts no more. */
function toMilliseconds(name: string, seconds: number): number {
  if (!(seconds >= 0)) throw new InstanceError('CONFIG', `${name} must be a number of seconds, or 0 for no limit`);
  return Math.min(1000 * seconds, 2 ** 31 - 1);
}

function toRetries(number: number): number {
  if (Number.isInteger(number) && number >= 0) return number;
  throw new InstanceError('CONFIG', 'retries must be a whole number, or 0 for none');
}

/** Whether an operand can be a name in instances.toml: it has no scheme, port or path. */
function canBeName(operand: string): boolean {
  return !/[:/@]/.test(operand);
}

function formatLabel(url: URL, proxy?: URL): string {
  const address = url.origin + (url.pathname === '/' ? '' : url.pathname);
  return proxy ? `${address} (through the proxy ${proxy.origin})` : address;
}

function credentialsHelp({ program, credentials }: ResolveContext): string {
  if (credentials) return 'give user and password, or token';
  const prefix = program.toUpperCase();
  return `give credentials in ${prefix}_USER and ${prefix}_PASSWORD, or ${prefix}_TOKEN`;
}

const fromCaller = (credentials: Credentials): CredentialSource => ({ name: 'the options', read: () => credentials });

function fromOptions({ user, passwordFile, tokenFile }: InstanceOptions): CredentialSource {
  return {
    name: 'the command line',
    places: { user: '--user', password: '--password-file', token: '--token-file' },
    async read() {
      return {
        user,
        password: passwordFile && (await readSecretLine(passwordFile, '--password-file')),
        token: tokenFile && (await readSecretLine(tokenFile, '--token-file')),
      };
    },
  };
}

function fromAddress({ user, password, token }: Address, context: ResolveContext): CredentialSource {
  return {
    name: ADDRESS_SOURCE,
    read() {
      if (!context.credentials && (password !== undefined || token !== undefined))
        context.warn(
          'the address contains a secret, which others on this machine can see; use an environment variable instead',
        );
      return { user, password, token };
    },
  };
}

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
  { user, password_file, token_file, token_command }: InstanceEntry,
  name: string,
  env: ResolveContext['env'],
  timeout: number,
): CredentialSource {
  const place = placeOfEntry(name, env);
  const tokenKey = token_file === undefined ? 'token_command' : 'token_file';
  return {
    name: `[${name}] in instances.toml`,
    places: { user: place, password: `password_file in ${place}`, token: `${tokenKey} in ${place}` },
    async read() {
      return {
        user,
        password: password_file && (await readSecretLine(password_file, `password_file of ${name}`)),
        token: token_file
          ? await readSecretLine(token_file, `token_file of ${name}`)
          : token_command && (await runTokenCommand(token_command, name, env, timeout)),
      };
    },
  };
}

function fromPrompt(address: string, { promptSecret, options }: ResolveContext): CredentialSource {
  return {
    name: 'the terminal',
    async read(user) {
      if (user === undefined) return {};
      if (options?.showConfig) return { password: 'whatever the answer is' };
      return { password: (await promptSecret?.(`password of ${user} at ${address}`)) || undefined };
    },
  };
}

function warnAboutPlainHttp(url: URL, proxy: URL | undefined, context: ResolveContext): void {
  if (url.protocol === 'https:') return;
  const hops = [proxy, url].filter(each => each !== undefined);
  if (hops.every(({ hostname }) => isLoopbackHost(hostname))) return;
  const by = proxy ? `, by way of the proxy ${proxy.host},` : '';
  context.warn(`credentials go to ${url.host}${by} over plain http, where anyone on the way can read them; use https`);
}

function warnAboutPlainProxy({ protocol, hostname, host }: URL, context: ResolveContext): void {
  if (protocol === 'https:' || isLoopbackHost(hostname)) return;
  context.warn(
    `the proxy's credentials go to ${host} over plain http, where anyone on the way can read them; is there an https:// proxy?`,
  );
}

function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

async function readCertificates(path: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw readError('the certificates', path, error);
  }
  await checkCertificates(text, path);
  return text;
}

/** Rejects certificates that Node cannot read: Node would ignore them, and trust no server. */
async function checkCertificates(text: string, path: string): Promise<void> {
  const { X509Certificate } = await import('node:crypto'); // few runs need it
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*(?:-----END CERTIFICATE-----)?/g) ?? [];
  if (!blocks.length)
    throw new InstanceError(
      'CONFIG',
      `${path} contains no certificate in PEM format (-----BEGIN CERTIFICATE-----); openssl x509 -inform der converts from DER`,
    );
  blocks.forEach((block, i) => {
    try {
      new X509Certificate(block);
    } catch {
      throw new InstanceError('CONFIG', `${path}: certificate ${i + 1} is damaged; get the file again`);
    }
  });
}
