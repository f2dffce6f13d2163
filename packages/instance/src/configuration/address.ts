import { isIP } from 'node:net';
import { escapeControls, formatExcerpt } from '@sqlpipe/text';
import { configError, type InstanceError } from '../instance-error.js';
import type { Credentials } from './connection-config.js';

export interface Address extends Credentials {
  /** Scheme, host, port and path prefix. The path has no slash at its end, unless it is `/`. */
  url: URL;
  cacert?: string | undefined;
  insecure?: boolean;
}

/** Whether a text can only be an address: one with a scheme, or a configuration string such as `http::addr=host`. */
export const hasAddressSyntax = (text: string): boolean => /^(?![./~]).*(?::\/\/|::)/s.test(text);

/** Whether a text can only be a path, even if no such file exists: it must not be tried as a host name. */
export const hasPathSyntax = (text: string): boolean =>
  !hasAddressSyntax(text) && /^[./~]|\.(?:sql|stream)$/.test(text);

/**
 * Reads `http://host:9000/prefix`, `https://…`, `host`, `host:9000/prefix`, or `https::addr=host:9000;token=…;`. Without a scheme, it is
 * http, on port 9000 unless another is given. Messages show nothing that may be a secret. @throws InstanceError with the code CONFIG
 */
export function parseAddress(operand: string): Address {
  if (operand === '') throw addressError(operand, 'is not an address (is a variable unset?)');
  if (/^\w+::/.test(operand)) return addressFromConfigString(operand);
  const url = operand.includes('://') ? parseUrl(operand, operand) : parseWithoutScheme(operand, 'http');
  return {
    url: stripUrl(url),
    user: url.username === '' ? undefined : decodeCredential(url.username, 'the URL'),
    password: url.password === '' ? undefined : decodeCredential(url.password, 'the URL'),
  };
}

function parseWithoutScheme(text: string, scheme: string): URL {
  const url = parseUrl(`${scheme}://${text}`, text);
  // A URL object does not distinguish `:80` from no port.
  if (!/:\d+$/.test(text.replace(/\/.*$/, ''))) url.port = '9000';
  return url;
}

function parseUrl(href: string, given: string): URL {
  // The port is checked only if the address can contain no secret: digits after a colon may be a password.
  const [, port] = /^(?:\w+:\/\/)?[^/@?#;=:]+:(\d+)(?:\/[^@]*)?$/.exec(given) ?? [];
  if (port !== undefined && !(Number(port) >= 1 && Number(port) <= 65535))
    throw configError(`port ${formatExcerpt(port, 20)} is not between 1 and 65535`);
  if (given === '' || !URL.canParse(href)) throw addressError(given, 'is not an address');
  const url = new URL(href);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw addressError(given, `starts with ${url.protocol}//, which is not supported`);
  // Characters of credentials in the wrong place: `http:/user:password@host`, `http:addr=host;token=…`
  if (/[@;=]/.test(url.host + url.pathname))
    throw addressError(given, 'has @, ; or = in its host or path, so something may be missing before it');
  if (url.search !== '' || url.hash !== '')
    throw addressError(given, 'has a query (?) or a fragment (#), which is not supported');
  return url;
}

function stripUrl(url: URL): URL {
  const copy = new URL(url.origin);
  copy.pathname = url.pathname.replace(/\/+$/, '');
  return copy;
}

export function decodeCredential(encoded: string, where: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw configError(`the user or password in ${where} has a "%" that is not %XX; write it as %25`);
  }
}

/** A key, `=`, and a value up to a single `;` (two of them stand for one). The last `;` may be missing. */
const PAIR = /(\w+)=((?:[^;]|;;)*)(?:;|$)/y;

/** Reads `schema::key=value;key=value;`. Messages contain only positions: a value, or a key after a `;` in a value, may be secret. */
function addressFromConfigString(text: string): Address {
  const schemaEnd = text.indexOf('::');
  const values = new Map<string, string>();
  PAIR.lastIndex = schemaEnd + 2;
  while (PAIR.lastIndex < text.length) {
    const start = PAIR.lastIndex;
    const [, key, value] = PAIR.exec(text) ?? [];
    if (key === undefined || value === undefined)
      throw configError(
        `the configuration string is not key=value; from character ${start + 1} on; write http::addr=host:9000;`,
      );
    if (values.has(key))
      throw configError(
        `the configuration string has a duplicate key at character ${start + 1}; remove one, or write a ; inside a value as ;;`,
      );
    values.set(key, value.replaceAll(';;', ';'));
  }
  const schema = text.slice(0, schemaEnd);
  // WebSocket uses the port of HTTP. TCP does not, so tcp and tcps are not supported.
  const [, secure] = /^(?:http|ws)(s?)$/.exec(schema) ?? [];
  if (secure === undefined)
    throw configError(`the configuration string is for ${schema}, which is not supported; use http or https`);
  const host = values.get('addr');
  if (host === undefined) throw configError('the configuration string has no addr; add addr=host:9000;');
  return {
    url: stripUrl(parseWithoutScheme(host, `http${secure}`)),
    user: values.get('username'),
    password: values.get('password'),
    token: values.get('token'),
    cacert: values.get('tls_roots'),
    insecure: values.get('tls_verify') === 'unsafe_off',
  };
}

/** The message shows the address only if it cannot contain a secret. For example, digits after a colon may be a password. */
function addressError(operand: string, why: string): InstanceError {
  const shown = /[@?#;=]|:(?!\/\/)/.test(operand) ? 'the address' : `"${escapeControls(operand)}"`;
  return configError(`${shown} ${why}; give an address such as http://host:9000`);
}

export const formatAddress = ({ origin, pathname }: URL): string => origin + (pathname === '/' ? '' : pathname);

async function lookUpAll(name: string): Promise<readonly string[]> {
  const { lookup } = await import('node:dns/promises'); // few runs need it
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

/** Where a connection stays on this machine. A connection to the unspecified address does so too. */
const OWN_ADDRESS = /^(?:127\.\d+\.\d+\.\d+|0\.0\.0\.0|::1?)$/;

const LOCALHOST = 'localhost';

/**
 * Whether two addresses are those of one server, whatever the scheme. A name is the same as an IP address that it has. Two different
 * names are two servers, because one address can serve several names.
 */
export async function detectSameAddress(one: URL, other: URL, lookUp = lookUpAll): Promise<boolean> {
  if (effectivePort(one) !== effectivePort(other) || one.pathname !== other.pathname) return false;
  const hosts = [one, other].map(({ hostname }) => formatHost(hostname));
  if (hosts[0] === hosts[1]) return true;
  const [name, second] = hosts.filter(host => !isAddress(host));
  if (name === undefined || second !== undefined) return false;
  const ip = hosts.find(isAddress);
  const addresses = await lookUp(name).catch(() => []);
  return addresses.some(address => formatHost(address) === ip);
}

/** A host in one form: all addresses of this machine are `localhost`. @param hostname as in a URL, or an IP address */
function formatHost(hostname: string): string {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  // An IPv4 address in the form of IPv6, as URL writes it
  const [, high, low] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(host) ?? [];
  const address = high && low ? new URL(`http://0x${high}${low.padStart(4, '0')}`).hostname : host;
  return OWN_ADDRESS.test(address) ? LOCALHOST : address;
}

const isAddress = (host: string): boolean => host === LOCALHOST || isIP(host) > 0;

export const effectivePort = ({ port, protocol }: URL): string => port || (protocol === 'https:' ? '443' : '80');

export const isOwnHost = (hostname: string): boolean => /(?:^|\.)localhost$/.test(formatHost(hostname));
