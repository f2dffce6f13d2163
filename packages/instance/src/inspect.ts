/*! What an instance reports about itself: version, user, and what prevents a schema from being copied. */
import { BestEffortClient } from './best-effort-client.js';
import type { ConnectionConfig } from './connection-config.js';
import { fetchParameters, hasAccessControl } from './defaults.js';
import { fetchInvalidViews, fetchSuspended } from './fetch-health.js';
import { connect } from './instance.js';

/** An instance as it describes itself; `unknown` stands for what it does not report. */
export interface Inspection {
  /** The path that statements are sent to. */
  endpoint: string;
  /** The server's name of its build. */
  version: string;
  /** The user of the connection. */
  user: string;
  accessControl: Awaited<ReturnType<typeof hasAccessControl>>;
  /** The user's permissions if access control is on. Servers list none for a built-in administrator. */
  permissions: string[];
  /** In bytes; the server does not read a longer request. */
  requestLimit: string;
  /** Views that the instance reports as invalid, each with its reason. */
  invalid: Map<string, string>;
  /** Tables that no longer apply changes, each with its error. */
  suspended: Map<string, string>;
  /** Why nothing can be created on the instance, if that is known. */
  denied?: string;
}

/** @throws InstanceError if there is no QuestDB server at the address, or it does not answer this user */
export async function inspect(target: ConnectionConfig): Promise<Inspection> {
  const instance = connect(target);
  const client = new BestEffortClient(target);
  const query = (sql: string) => client.table(sql);
  const firstColumn = async (sql: string) => (await query(sql))?.map(([value]) => String(value));
  try {
    const [[build] = []] = await instance.table('SELECT build()');
    const parameters = (await client.attempt(fetchParameters)) ?? new Map<string, string>();
    const accessControl = await hasAccessControl(instance);
    const permissions = accessControl === 'on' ? ((await firstColumn('SHOW PERMISSIONS')) ?? []) : [];
    const readOnly = ['readonly', 'http.security.readonly'].some(name => parameters.get(name) === 'true');
    const mayCreate = !permissions.length || permissions.some(each => /^(ALL|CREATE TABLE)$/i.test(each));
    return {
      endpoint: instance.endpoint,
      version: String(build).replace(/^Build Information: /, ''),
      user: (await firstColumn('SELECT current_user()'))?.[0] ?? userOf(target),
      accessControl,
      permissions: [...new Set(permissions)],
      requestLimit: parameters.get('http.request.header.buffer.size') ?? 'unknown',
      invalid: await fetchInvalidViews(query),
      suspended: await fetchSuspended(query),
      ...(readOnly && { denied: 'the server is read-only, so no schema can be applied to it' }),
      ...(!mayCreate && { denied: 'this user has no permission CREATE TABLE, so no schema can be applied to it' }),
    };
  } finally {
    await Promise.all([instance.close(), client.close()]);
  }
}

/** The user that the credentials contain; a token contains none. */
function userOf({ authorization }: ConnectionConfig): string {
  const [scheme, value = ''] = authorization?.split(' ') ?? [];
  if (!scheme) return 'none given';
  return scheme === 'Basic' ? (Buffer.from(value, 'base64').toString().split(':', 1)[0] ?? '') : 'whose token it is';
}
