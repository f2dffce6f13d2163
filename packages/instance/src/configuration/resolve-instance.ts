import { isIPv6 } from 'node:net';
import { configError } from '../instance-error.js';
import { type Address, decodeCredential, effectivePort, formatAddress, isOwnHost } from './address.js';
import type { ConnectionConfig, ResolveContext, Setting } from './connection-config.js';
import { ADDRESS_SOURCE, resolveAuthorization } from './credentials.js';
import { type InstanceEntry, readProtectedNames, resolveOperand } from './named-instances.js';
import { readCertificates } from './secret-file.js';

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
  const { env, credentials } = context;
  const { address, entry, unknownName } = await resolveOperand(operand, env);
  const shown = formatAddress(address.url);
  const found = findProxy(address.url, env);
  const proxy = found?.proxy;
  const variable = context.program.toUpperCase();
  const help = credentials
    ? 'give user and password, or token'
    : `give credentials in ${variable}_USER and ${variable}_PASSWORD, or ${variable}_TOKEN`;
  const { settings, cacert, connection } = resolveSettings(entry, address, found, context);
  const login = await resolveAuthorization(address, entry, connection.timeout, help, context);
  warnAboutPlainHttp(address.url, proxy, login !== undefined, context);
  return {
    label: proxy ? `${shown} (through the proxy ${proxy.origin})` : shown,
    url: address.url,
    credentialsHelp: help,
    logRequest: context.logRequest,
    warn: context.warn,
    info: context.info,
    ...connection,
    ...login,
    settings: [
      { name: 'url', value: shown, source: entry?.place ?? 'the command line' },
      ...(login?.settings ?? []),
      ...settings,
    ],
    ...(entry && { name: operand }),
    protectedNames: async () =>
      entry?.protected === undefined ? readProtectedNames(address.url, env) : entry.protected ? [operand] : [],
    unknownName,
    ...(cacert !== undefined && { ca: await readCertificates(cacert) }),
    ...(proxy && { proxy }),
  };
}

function resolveSettings(
  entry: InstanceEntry | undefined,
  address: Address,
  found: ReturnType<typeof findProxy>,
  { options = {} }: ResolveContext,
) {
  const settings: Setting[] = [];
  /** The first value that is given: by an option, in the entry, in the address, or by default. */
  const choose = <T>(name: string, values: readonly (T | undefined)[], flag = `--${name.replace('_', '-')}`) => {
    const at = values.findIndex(value => value !== undefined);
    const source = [flag, entry?.place, ADDRESS_SOURCE, 'default'][at];
    if (source !== undefined) settings.push({ name, value: String(values[at]), source });
    return values[at];
  };
  const chooseTimeLimit = (key: keyof typeof DEFAULT_LIMITS, option: number | undefined) => {
    const seconds = choose(key, [option, entry?.[key], undefined, DEFAULT_LIMITS[key]]) ?? 0;
    const source = option === undefined && entry ? `${key} of ${entry.name}` : key.replace('_', '-');
    if (!(seconds >= 0)) throw configError(`${source} must be a number of seconds, or 0 for no limit`);
    return Math.min(1000 * seconds, 2 ** 31 - 1); // a timer accepts at most 25 days
  };
  const cacert = choose('cacert', [options.cacert, entry?.cacert, address.cacert]);
  const [given, inAddress] = [options.insecure, address.insecure].map(insecure => (insecure ? false : undefined));
  const tlsVerify = choose('tls_verify', [given, entry?.tls_verify, inAddress, true], '--insecure');
  const timeout = chooseTimeLimit('timeout', options.timeout);
  const connectTimeout = chooseTimeLimit('connect_timeout', options.connectTimeout);
  const retries = choose('retries', [options.retries, entry?.retries, undefined, 0]) ?? 0;
  if (!Number.isInteger(retries) || retries < 0) throw configError('retries must be a whole number, 0 or more');
  if (found) settings.push({ name: 'proxy', value: found.proxy.origin, source: found.variable });
  if (entry) choose('protected', [undefined, entry.protected, undefined, false]);
  return { settings, cacert, connection: { insecure: tlsVerify === false, timeout, connectTimeout, retries } };
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
