/*!
 * Routes requests: to statements, to the paths that need no login, and to rejections of a request whose statement is not read.
 * Responses are compact JSON with QuestDB's order of keys.
 */
import { BlockList } from 'node:net';
import { RejectionError } from '@sqlpipe/ddl/parser';
import { type Cell, DenialError, OpaqueError, type StatementReply } from '@sqlpipe/engine';
import type { Caller } from './logins.js';
import { decodeBytes, type HttpRequest } from './request.js';
import type { Service } from './service.js';

export interface HttpResponse {
  readonly status: number;
  readonly type: 'json' | 'text';
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isUnchunked?: boolean;
}

/** @param hosts host names that are allowed besides this machine's own; undefined allows any */
export const createRouter =
  (service: Service, hosts?: ReadonlySet<string>) =>
  async (request: HttpRequest): Promise<HttpResponse> => {
    const foreignReason = findForeignReason(request.headers, hosts);
    if (foreignReason !== undefined) return textResponse(403, foreignReason);
    const rejection = findRequestError(request);
    if (rejection) return rejection;
    if (request.path === '/settings') return settingsResponse(service);
    if (request.path === '/ping') return { ...EMPTY_RESPONSE, status: 204 };
    if (request.path === '/') return { ...EMPTY_RESPONSE, status: 301, headers: { Location: '/index.html' } };
    const caller = await service.authenticate(request.headers.get('authorization'));
    if (caller === undefined) return textResponse(401, 'Unauthorized');
    const response = await execute(service, request.parameters, caller);
    return { ...response, headers: { 'Keep-Alive': 'timeout=5, max=10000' } };
  };

function findRequestError({ method, path, headers }: HttpRequest): HttpResponse | undefined {
  const length = headers.get('content-length');
  if ((method === 'POST' || method === 'PUT') && length === undefined)
    return textResponse(400, 'Content-length not specified for POST/PUT request');
  if (method === 'GET' && length !== undefined && length !== '0')
    return textResponse(400, 'GET request method cannot have content');
  if (!['/api/v1/sql/execute', '/exec', '/settings', '/ping', '/'].includes(path))
    return textResponse(404, 'Not Found');
  return method === 'GET' ? undefined : textResponse(405, `Method ${method} not supported`);
}

const settingsResponse = ({ isEnterprise, options: { version } }: Service): HttpResponse => ({
  ...jsonResponse(
    200,
    JSON.stringify({
      config: {
        'release.type': isEnterprise ? 'EE' : 'OSS',
        'release.version': version,
        'accepting.writes': ['http'],
        'line.proto.support.versions': [],
        'ilp.proto.transports': [],
        ...(isEnterprise && { 'acl.enabled': true }),
        'cairo.max.file.name.length': 127,
      },
    }),
  ),
  isUnchunked: true,
});

async function execute(service: Service, parameters: HttpRequest['parameters'], caller: Caller): Promise<HttpResponse> {
  const { text: query, isValid } = decodeBytes(parameters.get('query') ?? '');
  const reject = (status: number, message: string, position = 0) =>
    jsonResponse(status, `{"query":${quote(query)},"error":${quote(message)},"position":${position}}`);
  if (!isValid) return reject(400, 'Bad UTF8 encoding in query text');
  try {
    return replyResponse(await service.execute(query, caller), query, parameters);
  } catch (error) {
    if (error instanceof RejectionError)
      return reject(error instanceof DenialError ? 403 : 400, error.message, error.position);
    // A status of 500 would say that it is worth trying again.
    if (error instanceof OpaqueError) return reject(400, error.message);
    // The parsers recurse as deep as the statement is nested, and nothing is changed before a statement is parsed.
    if (error instanceof RangeError) return reject(400, 'the statement is nested too deeply');
    return reject(500, `internal error: ${(error as Error).message}`);
  }
}

/** Where only this machine can reach a server: not the unspecified address, which stands for all addresses of a server. */
const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

export const isLoopback = (address: string): boolean =>
  LOOPBACK.check(address, address.includes(':') ? 'ipv6' : 'ipv4');

/**
 * A browser sends a GET to any address, also of this machine, for any page. So no header may name a page of another origin. A page can also
 * point its own host name to the address of this machine (DNS rebinding). So a server that listens only on this machine accepts no other
 * name.
 */
function findForeignReason(headers: HttpRequest['headers'], hosts?: ReadonlySet<string>): string | undefined {
  const host = headers.get('host');
  if (hosts && host !== undefined && !isAllowedHost(host, hosts))
    return 'Host not allowed: start sqlserve with --allow-host NAME to allow it';
  const site = headers.get('sec-fetch-site') ?? 'none';
  const pages = [headers.get('origin'), headers.get('referer')].filter(page => page !== undefined);
  if ((site === 'none' || site === 'same-origin') && pages.every(page => isSameOrigin(page, host))) return;
  return 'Requests from pages of other origins are not allowed';
}

function isAllowedHost(host: string, hosts: ReadonlySet<string>): boolean {
  const name = parseUrl(`http://${host}`)
    ?.hostname.replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  if (name === undefined) return false;
  return name === 'localhost' || hosts.has(name) || isLoopback(name);
}

function isSameOrigin(page: string, host: string | undefined): boolean {
  const url = parseUrl(page);
  return url !== undefined && host !== undefined && url.host === parseUrl(`${url.protocol}//${host}`)?.host;
}

const parseUrl = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

/** `limit=lo,hi` selects rows; `nm=true` omits the metadata, and `count=true` counts the rows beyond the limit too. */
function replyResponse(reply: StatementReply, query: string, parameters: HttpRequest['parameters']): HttpResponse {
  if (reply.kind === 'ddl') return jsonResponse(200, '{"ddl":"OK"}');
  if (reply.kind === 'empty') {
    const key = Number(parameters.get('version')) >= 2 ? 'notice' : 'error';
    return jsonResponse(200, `{"${key}":"empty query","query":${quote(query)},"position":"0"}`);
  }
  const { columns, rows } = reply;
  const limit = parseLimit(parameters.get('limit'));
  const limitedRows = limit ? rows.slice(...limit) : rows;
  const timestamp = columns.findIndex(({ name }) => name === reply.timestamp);
  const heads = columns.map(({ name, type }) => `{"name":${quote(name)},"type":${quote(type)}}`).join();
  const dataset = limitedRows
    .map(row => `[${row.map((value, i) => formatValue(value, columns[i]?.type)).join()}]`)
    .join();
  const isSet = (name: string) => parameters.get(name) === 'true';
  const meta = isSet('nm') ? '' : `"query":${quote(query)},"columns":[${heads}],"timestamp":${timestamp},`;
  const count = isSet('count') ? rows.length : limitedRows.length;
  return jsonResponse(200, `{${meta}"dataset":[${dataset}],"count":${count}}`);
}

/** `n` or `lo,hi`, 1-based; `0` and less give one row (observed on 9.3.4). */
function parseLimit(text: string | undefined): [number, number] | undefined {
  const match = /^(-?\d+)(?:,(-?\d+))?$/.exec(text ?? '');
  if (!match) return;
  const [, first, second] = match;
  const [lo, hi] = second === undefined ? [1, Number(first)] : [Number(first), Number(second)];
  return [Math.max(lo, 1) - 1, Math.max(hi, lo, 1)];
}

const textResponse = (status: number, message: string): HttpResponse => ({
  status,
  type: 'text',
  body: `${message}\r\n`,
});

const EMPTY_RESPONSE = { type: 'text', body: '', isUnchunked: true } as const;

const jsonResponse = (status: number, body: string): HttpResponse => ({ status, type: 'json', body });

/** As in QuestDB, the NUL of a VARCHAR is not escaped, although that is invalid JSON (observed on 9.3.4). */
function formatValue(value: Cell, type: string | undefined): string {
  return typeof value === 'string' ? quote(value, type === 'VARCHAR' ? '\0' : '\\u0000') : String(value);
}

/** JSON as QuestDB escapes it: newline, carriage return and tab are the only control characters with a short form. */
function quote(value: string, nul = '\\u0000'): string {
  const replacements: Record<string, string> = { '\\b': '\\u0008', '\\f': '\\u000c', '\\u0000': nul };
  return JSON.stringify(value).replace(/\\(?:u....|.)/g, sequence => replacements[sequence] ?? sequence);
}
