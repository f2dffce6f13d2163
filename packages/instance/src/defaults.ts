/*! What an instance says of itself: its edition and version, and its defaults for what a statement does not set. */

import { DEFAULTS, type Defaults } from '@sqlpipe/ddl';
import type { ConnectionConfig } from './connection-config.js';
import { queryIfAccepted } from './fetch-health.js';
import { type Instance, withInstance } from './instance.js';
import { InstanceError } from './instance-error.js';

/** The instance's own defaults; those that it does not show are the defaults of a server without configuration. */
export async function fetchDefaults(instance: Instance): Promise<Defaults> {
  const parameters = await fetchParameters(instance);
  const flag = (path: string, otherwise: boolean): boolean => (parameters.get(path) ?? String(otherwise)) === 'true';
  return {
    wal: flag('cairo.wal.enabled.default', DEFAULTS.wal),
    symbolCached: flag('cairo.default.symbol.cache.flag', DEFAULTS.symbolCached),
    indexCapacity: Number(parameters.get('cairo.index.value.block.size')) || DEFAULTS.indexCapacity,
    maxInMemory: Number(parameters.get('cairo.live.view.in.memory.max')) || DEFAULTS.maxInMemory,
  };
}

/**
 * The defaults for comparing two schemas: those of the instance that statements in a file are compared with. Two instances print
 * complete statements, so they need no defaults; without an instance the defaults are those of a server without configuration.
 */
export async function fetchCommonDefaults(
  a: ConnectionConfig | undefined,
  b: ConnectionConfig | undefined,
): Promise<Defaults> {
  const target = a ?? b;
  return !target || (a && b) ? DEFAULTS : withInstance(target, fetchDefaults);
}

/** Values of SHOW PARAMETERS by property; empty if the instance does not show them. */
export async function fetchParameters(instance: Instance): Promise<Map<string, string>> {
  const query = 'SELECT property_path, value FROM (SHOW PARAMETERS)';
  const rows = (await queryIfAccepted(instance, query)) ?? [];
  return new Map(rows.map(([path, value]) => [String(path), String(value)]));
}

/** Does not match the enterprise edition, which has version numbers of its own. */
const BUILD = /^(?!.*enterprise).*\bQuestDB (\d+\.\d+(?:\.\d+)?)/i;

/** Whether an instance is of the enterprise edition, the only one with access control. */
export const isEnterprise = async (instance: Instance): Promise<boolean> => (await hasAccessControl(instance)) === 'on';

/** Only a server with access control knows SHOW USERS, even if it denies the answer to this user. */
export async function hasAccessControl(instance: Instance): Promise<'on' | 'off' | 'unknown'> {
  try {
    await instance.table('SHOW USERS');
    return 'on';
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error;
    return error.code === 'DENIED' ? 'on' : error.code === 'REJECTED' ? 'off' : 'unknown';
  }
}

/** The version of an instance of the open source edition, such as `9.3.4`; undefined if it does not report one. */
export async function fetchVersion(instance: Instance): Promise<string | undefined> {
  try {
    const [[build] = []] = await instance.table('SELECT build()');
    return BUILD.exec(String(build))?.[1];
  } catch (error) {
    if (error instanceof InstanceError) return undefined;
    throw error;
  }
}
