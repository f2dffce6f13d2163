/*!
 * Reads a request as QuestDB does, which is not quite HTTP: lines may end in a bare LF, any method and version is accepted, the path is not
 * decoded, and a request that is too long or badly encoded gets no response.
 */
import { isUtf8 } from 'node:buffer';
import { requiredBuffer } from '@sqlpipe/sql';

export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  /** Decoded parameters as bytes in a Latin-1 string; if a parameter is repeated, the last one. */
  readonly parameters: ReadonlyMap<string, string>;
  /** By lower-case name; the values of a repeated header are joined by a comma. */
  readonly headers: ReadonlyMap<string, string>;
  /** Whether a body follows or may follow. It is not read, so its end is unknown. */
  readonly hasBody: boolean;
}

/** Reads the first request. `bytes` are Latin-1, and `limit` is `http.request.header.buffer.size`. */
export function readRequest(bytes: string, limit: number): HttpRequest | 'incomplete' | 'hang up' {
  const lineEnd = bytes.indexOf('\n');
  const isTlsHandshake = bytes.startsWith('\x16\x03');
  if (isTlsHandshake || (lineEnd >= 0 && !bytes.slice(0, lineEnd).includes(' '))) return 'hang up';
  const blank = /\n\r?\n/.exec(bytes);
  if (!blank) return bytes.length > limit ? 'hang up' : 'incomplete';
  const [requestLine = '', ...lines] = bytes.slice(0, blank.index).replaceAll('\r', '').split('\n');
  const [method = '', target, version] = requestLine.split(' ');
  if (method === '' || target === undefined) return 'hang up';
  // Without a version, QuestDB finds neither the end of the target nor parameters.
  const [path = '', query, ...more] = version === undefined ? [target.split('?', 1)[0]] : target.split('?');
  if (query === '') return 'hang up';
  const parameters = parseParameters(query ?? '');
  if (!parameters || requiredBuffer(requestLine, query ?? '', lines) > limit) return 'hang up';
  const headers = parseHeaders(lines);
  if (!headers) return 'hang up';
  const hasBody = headers.has('transfer-encoding') || (headers.get('content-length') ?? '0') !== '0';
  // A target with a second question mark matches no path.
  return { method, path: more.length > 0 ? '' : path, parameters, headers, hasBody };
}

/** Undefined for a line that is no header. `Content-Length : 9` and folded lines are rejected: programs disagree where the body begins. */
function parseHeaders(lines: readonly string[]): Map<string, string> | undefined {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value = ''] = /^([^\s:]+):(.*)$/.exec(line) ?? [];
    if (name === undefined) return;
    const key = name.toLowerCase();
    const previous = headers.get(key);
    headers.set(key, previous === undefined ? value.trim() : `${previous}, ${value.trim()}`);
  }
  return headers;
}

/** Undefined if an escape is malformed. A parameter with a second `=` is ignored. */
function parseParameters(query: string): Map<string, string> | undefined {
  const parameters = new Map<string, string>();
  for (const pair of query.split('&')) {
    const [name, value, ...more] = pair.split('=').map(decodeParameter);
    if (name === undefined || (value === undefined && pair.includes('='))) return;
    if (value === undefined) continue;
    if (more.length === 0 && value !== '') parameters.set(name, value);
  }
  return parameters;
}

function decodeParameter(text: string): string | undefined {
  if (/%(?![0-9a-f]{2})/i.test(text)) return;
  const spaced = text.replaceAll('+', ' ');
  return spaced.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Decodes the bytes of a Latin-1 string as UTF-8. If they are not UTF-8, `text` shows them as QuestDB does. */
export function decodeBytes(bytes: string): { text: string; isValid: boolean } {
  const buffer = Buffer.from(bytes, 'latin1');
  if (isUtf8(buffer)) return { text: buffer.toString(), isValid: true };
  const text = bytes.replace(/[\x80-\xff]/g, byte => String.fromCharCode(0xff00 | byte.charCodeAt(0)));
  return { text, isValid: false };
}
