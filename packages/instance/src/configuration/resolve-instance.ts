import { isIPv6 } from 'node:net';
import { escapeControls } from '@sqlpipe/text';
import { configError } from '../instance-error.js';
import {
  type Address,
  decodeCredential,
  effectivePort,
  formatAddress,
  hasPathSyntax,
  isOwnHost,
  parseAddress,
} from './address.js';
import type { ConnectionConfig, ResolveContext, Setting } from './connection-config.js';
import {
  ADDRESS_SOURCE,
  fromAddress,
  fromEntry,
  fromEnvironment,
  fromOptions,
  fromPrompt,
  resolveAuthorization,
} from './credentials.js';
import {
  addressOfEntry,
  canBeName,
  formatUnknownName,
  type InstanceEntry,
  instancesPath,
  placeOfEntry,
  readInstances,
  readProtectedNames,
} from './named-instances.js';
import { fromNetrc } from './netrc.js';
import { readCertificates } from './secret-file.js';

const DEFAULT = 'default';

/** In seconds. A server ends a query after 60 s by itself. */
const DEFAULT_LIMITS = { timeout: 120, connect_timeout: 10 };

/**
 * Resolves the operand INSTANCE, with the credentials that belong to it. Nothing is sent.
 *
 * An operand is a name in `instances.toml`, or else an address (`parseAddress`). The sources of credentials, in their order:
 * - what the caller gives, and the options;
 * - the address;
 * - the variables of the program: `SQLDUMP_USER`, `SQLDUMP_PASSWORD`, `SQLDUMP_TOKEN`;
 * - for a name, its variables (`SQLPIPE_PROD_USER`, …), then its entry;
 * - netrc;
 * - a prompt for the password, on a terminal, if only the user is known.
 * @throws InstanceError with the code CONFIG
 */
export async function resolveInstance(operand: string, context: ResolveContext): Promise<ConnectionConfig> {
  const { env, options = {}, credentials } = context;
  const entry = canBeName(operand) ? (await readInstances(env)).get(operand) : undefined;
  const address = entry ? addressOfEntry(entry, operand, env) : parseOperand(operand, env);
  const shown = formatAddress(address.url);
  const place = placeOfEntry(operand, env);
  const found = findProxy(address.url, env);
  const proxy = found?.proxy;
  const variable = context.program.toUpperCase();
  const help = credentials
    ? 'give user and password, or token'
    : `give credentials in ${variable}_USER and ${variable}_PASSWORD, or ${variable}_TOKEN`;
  const chosen = resolveSettings(operand, entry, address, found, context);
  const sources = [
    ...(credentials ? [{ name: 'the options', read: () => credentials }] : []),
    fromOptions(options),
    fromAddress(address, context),
    fromEnvironment(context.program, env),
    ...(entry ? [fromEnvironment(`sqlpipe_${operand}`, env), fromEntry(entry, operand, env, chosen.timeout)] : []),
    fromNetrc(address.url, options.netrcFile, env.HOME),
    fromPrompt(shown, context),
  ];
  const login = await resolveAuthorization(sources, help);
  warnAboutPlainHttp(address.url, proxy, login !== undefined, context);
  return {
    label: proxy ? `${shown} (through the proxy ${proxy.origin})` : shown,
    url: address.url,
    credentialsHelp: help,
    logRequest: context.logRequest,
    insecure: chosen.tlsVerify === false,
    timeout: chosen.timeout,
    connectTimeout: chosen.connectTimeout,
    retries: chosen.retries,
    warn: context.warn,
    info: context.info,
    settings: [
      { name: 'url', value: shown, source: entry ? place : 'the command line' },
      ...(login?.settings ?? []),
      ...chosen.settings,
    ],
    ...(entry && { name: operand }),
    protectedNames: async () =>
      entry?.protected === undefined ? readProtectedNames(address.url, env) : entry.protected ? [operand] : [],
    ...(login && { authorization: login.header, user: login.user, account: login.account }),
    ...(!entry && { unknownName: await formatUnknownName(operand, env) }),
    ...(chosen.cacert !== undefined && { ca: await readCertificates(chosen.cacert) }),
    ...(proxy && { proxy }),
  };
}

function resolveSettings(
  operand: string,
  entry: InstanceEntry | undefined,
  address: Address,
  found: ReturnType<typeof findProxy>,
  { env, options = {} }: ResolveContext,
) {
  const place = placeOfEntry(operand, env);
  const settings: Setting[] = [];
  const choose = <T>(name: string, ...candidates: (readonly [value: T | undefined, source: string])[]) => {
    const [value, source] = candidates.find(([candidate]) => candidate !== undefined) ?? [];
    if (source !== undefined) settings.push({ name, value: String(value), source });
    return value;
  };
  const chooseTimeLimit = (key: keyof typeof DEFAULT_LIMITS, option: number | undefined) => {
    const [flag, fallback] = [key.replace('_', '-'), DEFAULT_LIMITS[key]];
    const seconds = choose(key, [option, `--${flag}`], [entry?.[key], place], [fallback, DEFAULT]) ?? fallback;
    const source = option === undefined && entry ? `${key} of ${operand}` : flag;
    if (!(seconds >= 0)) throw configError(`${source} must be a number of seconds, or 0 for no limit`);
    return Math.min(1000 * seconds, 2 ** 31 - 1); // a timer accepts at most 25 days
  };
  const cacert = choose(
    'cacert',
    [options.cacert, '--cacert'],
    [entry?.cacert, place],
    [address.cacert, ADDRESS_SOURCE],
  );
  const tlsVerify = choose(
    'tls_verify',
    [options.insecure ? false : undefined, '--insecure'],
    [entry?.tls_verify, place],
    [address.insecure ? false : undefined, ADDRESS_SOURCE],
    [true, DEFAULT],
  );
  const timeout = chooseTimeLimit('timeout', options.timeout);
  const connectTimeout = chooseTimeLimit('connect_timeout', options.connectTimeout);
  const retries = choose('retries', [options.retries, '--retries'], [entry?.retries, place], [0, DEFAULT]) ?? 0;
  if (!Number.isInteger(retries) || retries < 0) throw configError('retries must be a whole number, 0 or more');
  if (found) choose('proxy', [found.proxy.origin, found.variable]);
  if (entry) choose('protected', [entry.protected, place], [false, DEFAULT]);
  return { settings, cacert, tlsVerify, timeout, connectTimeout, retries };
}

function parseOperand(operand: string, env: ResolveContext['env']): Address {
  if (hasPathSyntax(operand))
    throw configError(
      `${/[@?#;=:]/.test(operand) ? 'the operand' : `"${escapeControls(operand)}"`} is a path, not an instance; give an address such as http://host:9000, or a name in ${instancesPath(env) ?? 'instances.toml'}`,
    );
  return parseAddress(operand);
}

function warnAboutPlainHttp(url: URL, proxy: URL | undefined, hasLogin: boolean, { warn }: ResolveContext): void {
  const hops = [proxy, url].filter(hop => hop !== undefined);
  const by = proxy ? `, by way of the proxy ${proxy.host},` : '';
  if (hasLogin && url.protocol === 'http:' && !hops.every(({ hostname }) => isOwnHost(hostname)))
    warn(`credentials go to ${url.host}${by} over plain http, where anyone on the way can read them; use https`);
  if (proxy?.username && proxy.protocol === 'http:' && !isOwnHost(proxy.hostname))
    warn(
      `the proxy's credentials go to ${proxy.host} over plain http, where anyone on the way can read them; is there an https:// proxy?`,
    );
}

/**
 * The proxy for a URL. Undefined if no variable names one, or if `no_proxy` has the host.
 * @throws InstanceError for an invalid proxy; its message shows no value, because that may contain a password
 */
export function findProxy(url: URL, env: ResolveContext['env']): { proxy: URL; variable: string } | undefined {
  const lower = `${url.protocol.slice(0, -1)}_proxy`;
  const variable = env[lower] ? lower : lower.toUpperCase();
  const value = env[variable];
  if (!value || isProxyBypassed(url, env.no_proxy || env.NO_PROXY || '')) return undefined;
  const text = value.includes('://') ? value : `http://${value}`;
  const proxy = URL.canParse(text) ? new URL(text) : undefined;
  if (proxy && !['http:', 'https:'].includes(proxy.protocol))
    throw configError(
      `${variable} names a proxy that is neither http:// nor https://; write http://host:port, or add the instance's host to no_proxy`,
    );
  if (!proxy || proxy.pathname + proxy.search + proxy.hash !== '/')
    throw configError(`${variable} is not the address of a proxy; write http://host:port`);
  for (const encoded of [proxy.username, proxy.password]) decodeCredential(encoded, variable);
  return { proxy, variable };
}

/** Whether `no_proxy` has the host of an address: as `example.com` (with its subdomains), as `example.com:9000`, as `::1`, or as `*`. */
function isProxyBypassed(url: URL, list: string): boolean {
  const hostname = withoutDot(url.hostname);
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some(entry => {
      const [, host = '', port] = isIPv6(entry) ? ['', `[${entry}]`] : (/^(.*?)(?::(\d+))?$/.exec(entry) ?? []);
      const domain = withoutDot(host.replace(/^\*?\.(?=.)/, ''));
      const matchesHost = domain === '*' || hostname === domain || hostname.endsWith(`.${domain}`);
      return domain !== '' && matchesHost && (port === undefined || port === effectivePort(url));
    });
}

/** A complete host name may end in a dot: `example.com.`. */
const withoutDot = (name: string): string => name.replace(/\.$/, '');
