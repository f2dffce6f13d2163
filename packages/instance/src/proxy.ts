/*! The proxy to use, by the variables that curl and others read. */
import { decodeCredential, effectivePort } from './address.js';
import type { Sourced } from './connection-config.js';
import { InstanceError } from './instance-error.js';

/**
 * The proxy for an address and the variable that contains it: `http_proxy` or `https_proxy` by the scheme of the
 * address, in lower or upper case, unless `no_proxy` contains the host. Throws `CONFIG` for an invalid proxy; the
 * message names only the variable, because its value may contain a password.
 */
export function findProxy(url: URL, env: Readonly<Record<string, string | undefined>>): Sourced<URL> | undefined {
  const lower = `${url.protocol.slice(0, -1)}_proxy`;
  const name = env[lower] ? lower : lower.toUpperCase();
  const value = env[name];
  if (!value || isProxyBypassed(url, env.no_proxy || env.NO_PROXY || '')) return undefined;
  const text = value.includes('://') ? value : `http://${value}`;
  const proxy = URL.canParse(text) ? new URL(text) : undefined;
  if (proxy && !['http:', 'https:'].includes(proxy.protocol))
    throw new InstanceError(
      'CONFIG',
      `${name} names a proxy that is neither http:// nor https://; write http://host:port, or add the instance's host to no_proxy`,
    );
  if (!proxy || proxy.pathname + proxy.search + proxy.hash !== '/')
    throw new InstanceError('CONFIG', `${name} is not the address of a proxy; write http://host:port`);
  for (const encoded of [proxy.username, proxy.password]) decodeCredential(encoded, name);
  return { value: proxy, source: name };
}

/**
 * Whether a list contains the host of an address: `example.com` (with its subdomains), `example.com:9000`, `*` for all.
 */
function isProxyBypassed(url: URL, list: string): boolean {
  const hostname = withoutDot(url.hostname);
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some(entry => {
      const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      const domain = withoutDot(host.replace(/^\*?\.(?=.)/, ''));
      const matchesHost = domain === '*' || hostname === domain || hostname.endsWith(`.${domain}`);
      return domain !== '' && matchesHost && (port === undefined || port === effectivePort(url));
    });
}

/** A host name without the dot that ends it where it is complete: `example.com.`. */
const withoutDot = (name: string): string => name.replace(/\.$/, '');
