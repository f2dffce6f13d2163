/*! What an instance reports about itself: version, user, and what prevents a schema from being copied. */
import { BestEffortClient } from './best-effort-client.js';
import type { ConnectionConfig } from './connection-config.js';
import { connect } from './instance.js';
import { InstanceError } from './instance-error.js';
import { fetchInvalidViews } from './invalid-views.js';

/** An instance as it describes itself; what it does not tell is `unknown`. */
export interface Inspection {
  /** The path that statements are sent to. */
  endpoint: string;
  /** What it calls its build. */
  version: string;
  /** The user of the connection. */
  user: string;
  accessControl: 'on' | 'off' | 'unknown';
  /** What the user may do, where access control is on; those of a built-in administrator are not listed. */
  permissions: string[];
  /** Bytes; a longer request is not read. */
  requestLimit: string;
  /** Views that the instance calls invalid, each with its reason. */
  invalid: Map<string, string>;
  /** Tables that apply no changes any more. */
  suspended: string[];
  /** Why nothing can be created there, where that is known. */
  denied?: string;
}

/** @throws InstanceError where the instance does not answer as one, or not to this user */
export async function inspect(target: ConnectionConfig): Promise<Inspection> {
  const instance = connect(target);
  const client = new BestEffortClient(target);
  /** The first column. */
  const column = async (query: string) => (await client.table(query))?.map(([value]) => String(value));
  try {
    const [[build] = []] = await instance.table('SELECT build()');
    const parameters = new Map(
      (await client.table('SELECT property_path, value FROM (SHOW PARAMETERS)')) as [string, string][],
    );
    const accessControl = await hasAccessControl(target);
    const permissions = accessControl === 'on' ? ((await column('SHOW PERMISSIONS')) ?? []) : [];
    const readOnly = ['readonly', 'http.security.readonly'].some(name => parameters.get(name) === 'true');
    const mayCreate = !permissions.length || permissions.some(each => /^(ALL|CREATE TABLE)$/i.test(each));
    return {
      endpoint: instance.endpoint,
      version: String(build).replace(/^Build Information: /, ''),
      user: (await column('SELECT current_user()'))?.[0] ?? userOf(target),
      accessControl,
      permissions: [...new Set(permissions)],
      requestLimit: parameters.get('http.request.header.buffer.size') ?? 'unknown',
      invalid: await fetchInvalidViews(client),
      suspended: (await column('SELECT name FROM wal_tables() WHERE suspended')) ?? [],
      ...(readOnly && { denied: 'the server is read-only, so no schema can be applied to it' }),
      ...(!mayCreate && { denied: 'this user has no permission CREATE TABLE, so no schema can be applied to it' }),
    };
  } finally {
    await Promise.all([instance.close(), client.close()]);
  }
}

/** Only a server with access control parses the question; whether this user may know the answer does not matter. */
async function hasAccessControl(target: ConnectionConfig): Promise<Inspection['accessControl']> {
  const instance = connect(target);
  try {
    await instance.table('SHOW USERS');
    return 'on';
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error;
    return error.code === 'DENIED' ? 'on' : error.code === 'REFUSED' ? 'off' : 'unknown';
  } finally {
    await instance.close();
  }
}

/** Who the credentials are for, as far as they tell. */
function userOf({ authorization }: ConnectionConfig): string {
  const [scheme, value = ''] = authorization?.split(' ') ?? [];
  if (!scheme) return 'none given';
  return scheme === 'Basic' ? (Buffer.from(value, 'base64').toString().split(':', 1)[0] ?? '') : 'whose token it is';
}
