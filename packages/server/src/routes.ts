/*! Routes requests: to statements, to the paths that need no login, and to rejections of a request whose statement is not read. */
import { BlockList } from 'node:net';
import { RejectionError } from '@sqlpipe/ddl/parser';
import { DenialError, OpaqueError } from '@sqlpipe/engine';
import type { Caller } from './logins.js';
import { decodeBytes, type HttpRequest } from './request.js';
import {
  emptyResponse,
  type HttpResponse,
  jsonResponse,
  rejectionResponse,
  replyResponse,
  textResponse,
} from './response.js';
import type { Service } from './service.js';

/** @param hosts host names that are allowed besides this machine's own; undefined allows any */
export function createRouter(
  service: Service,
  hosts?: ReadonlySet<string>,
): (request: HttpRequest) => Promise<HttpResponse> {
  return async request => {
    const foreignReason = findForeignReason(request.headers, hosts);
    if (foreignReason !== undefined) return textResponse(403, foreignReason);
    const rejection = findRequestError(request);
    if (rejection) return rejection;
    if (request.path === '/settings') return settingsResponse(service);
    if (request.path === '/ping') return emptyResponse(204);
    if (request.path === '/') return emptyResponse(301, { Location: '/index.html' });
    const caller = await service.authenticate(request.headers.get('authorization'));
    if (caller === undefined) return textResponse(401, 'Unauthorized');
    const response = await execute(service, request.parameters, caller);
    return { ...response, headers: { 'Keep-Alive': 'timeout=5, max=10000' } };
  };
}

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
  if (!isValid) return rejectionResponse(400, query, 'Bad UTF8 encoding in query text', 0);
  try {
    return replyResponse(await service.execute(query, caller), query, parameters);
  } catch (error) {
    if (error instanceof RejectionError)
      return rejectionResponse(error instanceof DenialError ? 403 : 400, query, error.message, error.position);
    // A status of 500 would say that it is worth trying again.
    if (error instanceof OpaqueError) return rejectionResponse(400, query, error.message, 0);
    // The parsers recurse as deep as the statement is nested, and nothing is changed before a statement is parsed.
    if (error instanceof RangeError) return rejectionResponse(400, query, 'the statement is nested too deeply', 0);
    return rejectionResponse(500, query, `internal error: ${(error as Error).message}`, 0);
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
function findForeignReason(
  headers: ReadonlyMap<string, string>,
  hosts: ReadonlySet<string> | undefined,
): string | undefined {
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
