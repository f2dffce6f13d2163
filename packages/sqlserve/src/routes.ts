/*! Which request goes where: the two paths that execute, what is answered without a login, and every refusal before SQL. */

import { RejectionError } from '@sqlpipe/ddl/grammar';
import { version } from './answers.js';
import type { Edition } from './edition.js';
import { rejectForeign } from './origin.js';
import { bare, json, type Reply, refusalReply, replyTo, text, type Wishes } from './reply.js';
import { type Request, utf8 } from './request.js';
import type { Service } from './service.js';
import { Denial } from './session.js';

/**
 * The service's answer to any request.
 * @param hosts names that requests may be addressed to besides this machine's own; any where undefined
 */
export function routes(service: Service, hosts?: ReadonlySet<string>): (request: Request) => Promise<Reply> {
  const { edition } = service;
  return async request => {
    const foreign = rejectForeign(request.headers, hosts);
    if (foreign !== undefined) return text(403, foreign);
    const refused = reject(request);
    if (refused) return refused;
    if (request.path === '/settings') return settings(edition);
    if (request.path === '/ping') return bare(204);
    if (request.path === '/') return bare(301, { Location: '/index.html' });
    const caller = await edition.authenticate(request.headers.get('authorization'));
    return caller === undefined ? text(401, 'Unauthorized') : execute(service, request.parameters, caller);
  };
}

const paths = new Set(['/api/v1/sql/execute', '/exec', '/settings', '/ping', '/']);

function reject({ method, path, headers }: Request): Reply | undefined {
  const length = headers.get('content-length');
  if ((method === 'POST' || method === 'PUT') && length === undefined) {
    return text(400, 'Content-length not specified for POST/PUT request');
  }
  if (method === 'GET' && length !== undefined && length !== '0') {
    return text(400, 'GET request method cannot have content');
  }
  if (!paths.has(path)) return text(404, 'Not Found');
  return method === 'GET' ? undefined : text(405, `Method ${method} not supported`);
}

const settings = ({ release }: Edition): Reply => ({
  ...json(
    200,
    JSON.stringify({
      config: {
        'release.type': release,
        'release.version': version,
        'http.settings.readonly': false,
        'accepting.writes': ['http'],
        'line.proto.support.versions': [],
        'ilp.proto.transports': [],
        ...(release === 'EE' && { 'acl.enabled': true }),
        'posthog.enabled': false,
        'posthog.api.key': null,
        'cairo.max.file.name.length': 127,
      },
      'preferences.version': 0,
      preferences: {},
    }),
  ),
  whole: true,
});

const keepAlive = { 'Keep-Alive': 'timeout=5, max=10000' };

async function execute(service: Service, parameters: Request['parameters'], caller: string): Promise<Reply> {
  const { text: query, valid } = utf8(parameters.get('query') ?? '');
  if (!valid) return { ...refusalReply(400, query, 'Bad UTF8 encoding in query text', 0), headers: keepAlive };
  try {
    return { ...replyTo(await service.execute(query, caller), wishes(query, parameters)), headers: keepAlive };
  } catch (error) {
    return { ...failure(query, error), headers: keepAlive };
  }
}

function failure(query: string, error: unknown): Reply {
  if (error instanceof RejectionError)
    return refusalReply(error instanceof Denial ? 403 : 400, query, error.message, error.position);
  // What reads the statement goes as deep as the statement does, and nothing was changed before it had been read.
  if (error instanceof RangeError) return refusalReply(400, query, 'the statement is nested too deeply', 0);
  return refusalReply(500, query, `internal error: ${(error as Error).message}`, 0);
}

function wishes(query: string, parameters: Request['parameters']): Wishes {
  return {
    query,
    bare: parameters.get('nm') === 'true',
    count: parameters.get('count') === 'true',
    limit: limit(parameters.get('limit')),
    version: Number(parameters.get('version') ?? 1),
    columns: parameters.get('cols')?.split(','),
    timings: parameters.get('timings') === 'true',
    explain: parameters.get('explain') === 'true',
  };
}

/** `n` or `lo,hi`, 1-based; `0` and less give one row (observed on 9.3.4). */
function limit(text: string | undefined): [number, number] | undefined {
  const match = /^(-?\d+)(?:,(-?\d+))?$/.exec(text ?? '');
  if (!match) return;
  const [, first, second] = match;
  const [lo, hi] = second === undefined ? [1, Number(first)] : [Number(first), Number(second)];
  return [Math.max(lo, 1) - 1, Math.max(hi, lo, 1)];
}
