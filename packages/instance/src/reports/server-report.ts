import { type Defaults, SERVER_DEFAULTS } from '@sqlpipe/ddl';
import type { ConnectionConfig } from '../configuration/connection-config.js';
import { type Client, connect, withClient } from '../http/client.js';
import { queryIfAccepted, tryIfAccepted } from '../http/optional-queries.js';
import { InstanceError } from '../instance-error.js';
import { fetchInvalidViews, fetchSuspended } from './health.js';

/**
 * What an instance reports of itself; `unknown` stands for what it does not report.
 * @throws InstanceError if there is no QuestDB server at the address, or it does not answer this user
 */
export async function fetchServerReport(config: ConnectionConfig) {
  const client = connect(config);
  const query = (sql: string) => queryIfAccepted(client, sql);
  // A token contains no user.
  const given = config.authorization === undefined ? 'none given' : (config.user ?? 'whose token it is');
  const queryFirstColumn = async (sql: string) => (await query(sql))?.map(([value]) => String(value));
  try {
    const [[build] = []] = await client.queryRows('SELECT build()');
    const parameters = await fetchParameters(client);
    const accessControl = await fetchAccessControl(client);
    // Servers list none for a built-in administrator.
    const permissions = accessControl === 'on' ? ((await queryFirstColumn('SHOW PERMISSIONS')) ?? []) : [];
    const mayCreate = !permissions.length || permissions.some(each => /^(ALL|CREATE TABLE)$/i.test(each));
    return {
      endpoint: client.endpoint,
      version: String(build).replace(/^Build Information: /, ''),
      user: (await queryFirstColumn('SELECT current_user()'))?.[0] ?? given,
      accessControl,
      permissions: [...new Set(permissions)],
      requestLimit: parameters.get('http.request.header.buffer.size') ?? 'unknown',
      invalid: (await fetchInvalidViews(use => tryIfAccepted(() => use(client)))).invalid,
      suspended: await fetchSuspended(query),
      ...(isReadOnly(parameters) && { denied: 'the server is read-only, so no schema can be applied to it' }),
      ...(!mayCreate && { denied: 'this user has no permission CREATE TABLE, so no schema can be applied to it' }),
    };
  } finally {
    await client.close();
  }
}

/** The instance's own defaults; those that it does not show are the defaults of a server without configuration. */
export const fetchDefaults = async (client: Client): Promise<Defaults> => toDefaults(await fetchParameters(client));

export const isReadOnly = (parameters: ReadonlyMap<string, string>): boolean =>
  ['readonly', 'http.security.readonly'].some(name => parameters.get(name) === 'true');

export function toDefaults(parameters: ReadonlyMap<string, string>): Defaults {
  const isSet = (path: string, otherwise: boolean): boolean => (parameters.get(path) ?? String(otherwise)) === 'true';
  return {
    wal: isSet('cairo.wal.enabled.default', SERVER_DEFAULTS.wal),
    symbolCached: isSet('cairo.default.symbol.cache.flag', SERVER_DEFAULTS.symbolCached),
    indexCapacity: Number(parameters.get('cairo.index.value.block.size')) || SERVER_DEFAULTS.indexCapacity,
    maxInMemory: Number(parameters.get('cairo.live.view.in.memory.max')) || SERVER_DEFAULTS.maxInMemory,
  };
}

/**
 * The defaults for comparing two schemas: those of the instance that statements in a file are compared with. Two instances print complete
 * statements, so they need no defaults. Without an instance, they are those of a server without configuration.
 */
export async function fetchCommonDefaults(a?: ConnectionConfig, b?: ConnectionConfig): Promise<Defaults> {
  const config = a ?? b;
  return !config || (a && b) ? SERVER_DEFAULTS : withClient(config, fetchDefaults);
}

/** Values of SHOW PARAMETERS by property; empty if the instance does not show them. */
export async function fetchParameters(client: Client): Promise<Map<string, string>> {
  const query = 'SELECT property_path, value FROM (SHOW PARAMETERS)';
  const rows = (await queryIfAccepted(client, query)) ?? [];
  return new Map(rows.map(([path, value]) => [String(path), String(value)]));
}

/** Whether an instance is of the enterprise edition, the only one with access control. */
export const fetchIsEnterprise = async (client: Client) => (await fetchAccessControl(client)) === 'on';

/** Only a server with access control knows SHOW USERS, even if it denies the answer. @throws InstanceError if there is no answer */
async function fetchAccessControl(client: Client): Promise<'on' | 'off'> {
  try {
    await client.queryRows('SHOW USERS');
    return 'on';
  } catch (error) {
    if (!(error instanceof InstanceError) || error.serverMessage === undefined) throw error;
    return error.code === 'DENIED' ? 'on' : 'off';
  }
}

/** The version of an instance of the open source edition, such as `9.3.4`; undefined if it reports none. @throws InstanceError */
export async function fetchVersion(client: Client): Promise<string | undefined> {
  const [[build] = []] = (await queryIfAccepted(client, 'SELECT build()')) ?? [];
  // The enterprise edition has version numbers of its own.
  return /^(?!.*enterprise).*\bQuestDB (\d+\.\d+(?:\.\d+)?)/i.exec(String(build))?.[1];
}
