/*! What an operand means as an address: a URL, a bare host, or a QuestDB client's configuration string. */

import { escapeControls, truncate } from '@sqlpipe/sql';
import { parseConfigString } from './config-string.js';
import { InstanceError } from './instance-error.js';

/** An address, and what may be written into one beside it. */
export interface Address {
  /** Scheme, host, port and path prefix (no slash at its end but `/` alone), nothing else. */
  url: URL;
  user?: string | undefined;
  password?: string | undefined;
  token?: string | undefined;
  /** A file of certificates to trust. */
  cacert?: string | undefined;
  insecure?: boolean;
}

/** QuestDB's own; assumed where no scheme says what the default is. */
const DEFAULT_PORT = '9000';

/**
 * Reads `http://host:9000/prefix`, `https://…`, `host`, `host:9000/prefix`, or `https::addr=host:9000;token=…;`.
 * Without a scheme it is http, on port 9000 unless another is given. Throws `CONFIG`, and never shows what may be a
 * secret.
 */
export function parseAddress(operand: string): Address {
  if (operand === '') throw addressError(operand, 'is not an address (is a variable unset?)');
  if (/^\w+::/.test(operand)) return addressFromConfigString(operand);
  const url = toUrl(operand);
  return {
    url: stripUrl(url),
    user: url.username === '' ? undefined : decodeCredential(url.username, 'the URL'),
    password: url.password === '' ? undefined : decodeCredential(url.password, 'the URL'),
  };
}

function toUrl(operand: string): URL {
  return operand.includes('://') ? parseUrl(operand, operand) : parseWithoutScheme(operand, 'http');
}

/** `host`, `host:port`, with a path or without. */
function parseWithoutScheme(text: string, scheme: 'http' | 'https'): URL {
  const url = parseUrl(`${scheme}://${text}`, text);
  if (!hasPort(text)) url.port = DEFAULT_PORT;
  return url;
}

function parseUrl(href: string, given: string): URL {
  checkPort(given);
  if (given === '' || !URL.canParse(href)) throw addressError(given, 'is not an address');
  const url = new URL(href);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw addressError(given, `starts with ${url.protocol}//, which is not supported`);
  if (MISPLACED.test(url.host + url.pathname))
    throw addressError(given, 'has @, ; or = in its host or path, so something may be missing before it');
  if (url.search !== '' || url.hash !== '')
    throw addressError(given, 'has a query (?) or a fragment (#), which is not supported');
  return url;
}

/** Looked for where there can be no secret: a password may be digits, too. */
function checkPort(given: string): void {
  const [, port] = /^(?:\w+:\/\/)?[^/@?#;=:]+:(\d+)(?:\/[^@]*)?$/.exec(given) ?? [];
  if (port !== undefined && !(Number(port) >= 1 && Number(port) <= 65535))
    throw new InstanceError('CONFIG', `port ${truncate(port, 20)} is not between 1 and 65535`);
}

/** What remains of credentials in the wrong place: `http:/user:password@host`, `http:addr=host;token=…`. */
const MISPLACED = /[@;=]/;

/** Looked up in the text, because a URL does not tell `:80` from no port. */
function hasPort(operand: string): boolean {
  return /:\d+$/.test(operand.replace(/\/.*$/, ''));
}

/** A copy without credentials and without slashes at its end. */
function stripUrl(url: URL): URL {
  const copy = new URL(url.origin);
  copy.pathname = url.pathname.replace(/\/+$/, '');
  return copy;
}

/** A user or password as it is written in a URL. @param where what holds the URL, for messages */
export function decodeCredential(encoded: string, where: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw new InstanceError('CONFIG', `the user or password in ${where} has a "%" that is not %XX; write it as %25`);
  }
}

function addressFromConfigString(operand: string): Address {
  const { schema, values } = parseConfigString(operand);
  const scheme = SCHEMES.get(schema);
  if (scheme === undefined)
    throw new InstanceError(
      'CONFIG',
      `the configuration string is for ${schema}, which is not supported; use http or https`,
    );
  const host = values.get('addr');
  if (host === undefined)
    throw new InstanceError('CONFIG', 'the configuration string has no addr; add addr=host:9000;');
  return {
    url: stripUrl(parseWithoutScheme(host, scheme)),
    user: values.get('username'),
    password: values.get('password'),
    token: values.get('token'),
    cacert: values.get('tls_roots'),
    insecure: values.get('tls_verify') === 'unsafe_off',
  };
}

/** By the transport that a client's string is for. WebSocket goes to the same port as HTTP; tcp and tcps do not. */
const SCHEMES = new Map<string, 'http' | 'https'>([
  ['http', 'http'],
  ['https', 'https'],
  ['ws', 'http'],
  ['wss', 'https'],
]);

/** What has one of these characters, or a colon that is not the scheme's, may hold a secret, which no message may repeat. */
function addressError(operand: string, why: string): InstanceError {
  const shown = /[@?#;=]|:(?!\/\/)/.test(operand) ? 'the address' : `"${escapeControls(operand)}"`;
  return new InstanceError('CONFIG', `${shown} ${why}; give an address such as http://host:9000`);
}
