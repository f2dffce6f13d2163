/*! Whether a proxy stands between, by the variables that curl and others read. */
import { InstanceError } from './error.js';

/**
 * The proxy for an address: `http_proxy` or `https_proxy` by its scheme, in lower or upper case, unless `no_proxy`
 * names its host. Throws `CONFIG` for one that is no address.
 */
export function proxyFor(url: URL, env: Readonly<Record<string, string | undefined>>): URL | undefined {
  const name = `${url.protocol.slice(0, -1)}_proxy`;
  const value = env[name] || env[name.toUpperCase()];
  if (!value || isExcepted(url, env.no_proxy || env.NO_PROXY || '')) return undefined;
  const text = value.includes('://') ? value : `http://${value}`;
  if (!URL.canParse(text)) throw new InstanceError('CONFIG', `${name} is not an address: write http://host:port`);
  return new URL(text);
}

/** The list holds hosts (`example.com` stands for those below it too), with a port or without, or `*` for all. */
function isExcepted(url: URL, list: string): boolean {
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some(entry => {
      const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      const domain = host.replace(/^\*?\.(?=.)/, '');
      const reaches = domain === '*' || url.hostname === domain || url.hostname.endsWith(`.${domain}`);
      return domain !== '' && reaches && (port === undefined || port === effectivePort(url));
    });
}

function effectivePort({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80');
}
