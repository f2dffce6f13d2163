/*! What an operand means as an address: a URL, a bare host, or a QuestDB client's configuration string. */
import { parseConfigString } from './config-string.js';
import { InstanceError } from './error.js';
import { printable } from './printable.js';

/** An address, and what may be written into one beside it. */
export interface Address {
  /** Scheme, host, port and path prefix (no slash at its end but `/` alone), nothing else. */
  url: URL;
  user?: string;
  password?: string;
  token?: string;
  /** A file of certificates to trust. */
  cacert?: string;
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
  if (/^\w+::/.test(operand)) return fromConfigString(operand);
  const url = toUrl(operand);
  const user = decode(url.username);
  const password = decode(url.password);
  const address: Address = { url: bare(url) };
  if (user !== '') address.user = user;
  if (password !== '') address.password = password;
  return address;
}

function toUrl(operand: string): URL {
  const hasScheme = operand.includes('://');
  const text = hasScheme ? operand : `http://${operand}`;
  if (operand === '' || !URL.canParse(text)) throw bad(operand, 'is not an address');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw bad(operand, `starts with ${url.protocol}//, which this program does not speak`);
  if (url.search !== '' || url.hash !== '')
    throw bad(operand, 'has a query (?) or a fragment (#), which has no meaning');
  if (!hasScheme && !hasPort(operand)) url.port = DEFAULT_PORT;
  return url;
}

/** Looked up in the text, because a URL does not tell `:80` from no port. */
function hasPort(operand: string): boolean {
  return /:\d+$/.test(operand.replace(/\/.*$/, ''));
}

/** A copy without credentials and without slashes at its end. */
function bare(url: URL): URL {
  const copy = new URL(url.origin);
  copy.pathname = url.pathname.replace(/\/+$/, '');
  return copy;
}

function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw new InstanceError('CONFIG', 'the user or password in the URL has a "%" that is not %XX: write it as %25');
  }
}

function fromConfigString(operand: string): Address {
  const { schema, values } = parseConfigString(operand);
  const secure = SCHEMAS.get(schema);
  if (secure === undefined)
    throw new InstanceError(
      'CONFIG',
      `the configuration string is for ${schema}, which can't be asked: use http or https`,
    );
  const host = values.get('addr');
  if (host === undefined) throw new InstanceError('CONFIG', 'the configuration string has no addr=host:port');
  const url = toUrl(host);
  if (secure) url.protocol = 'https:';
  const address: Address = { url: bare(url), insecure: values.get('tls_verify') === 'unsafe_off' };
  const user = values.get('username');
  const password = values.get('password');
  const token = values.get('token');
  const cacert = values.get('tls_roots');
  if (user !== undefined) address.user = user;
  if (password !== undefined) address.password = password;
  if (token !== undefined) address.token = token;
  if (cacert !== undefined) address.cacert = cacert;
  return address;
}

/** Whether a client's transport is secure. WebSocket goes to the same port as HTTP; tcp and tcps do not. */
const SCHEMAS = new Map([
  ['http', false],
  ['https', true],
  ['ws', false],
  ['wss', true],
]);

/** An operand with an `@` may hold a password, which no message may repeat. */
function bad(operand: string, why: string): InstanceError {
  const shown = operand.includes('@') ? 'the address' : `"${printable(operand)}"`;
  return new InstanceError('CONFIG', `${shown} ${why}: give something like http://host:9000`);
}
