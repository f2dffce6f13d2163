/*! What an instance reports of its objects beside their definitions: which are invalid, suspended, or without rows. */
import type { Health } from '@sqlpipe/engine';
import { foldCase, quoteLiteral } from '@sqlpipe/sql';
import type { Instance } from './instance.js';
import { InstanceError } from './instance-error.js';

/** The health of all objects; without what the instance does not show. */
export async function fetchHealth(instance: Instance): Promise<Health> {
  const views = await queryIfAccepted(
    instance,
    "SELECT view_name, invalidation_reason FROM views() WHERE view_status = 'invalid'",
  );
  const materializedViews = await queryIfAccepted(
    instance,
    'SELECT view_name, view_status, invalidation_reason, last_refresh_finish_timestamp FROM materialized_views()',
  );
  const suspended = await queryIfAccepted(instance, 'SELECT name FROM wal_tables() WHERE suspended');
  const invalid = (materializedViews ?? []).filter(([, status]) => status === 'invalid');
  const columns = new Map<string, readonly ViewColumn[]>();
  for (const [name] of invalid) columns.set(nameOf(name), (await fetchViewColumns(instance, String(name))) ?? []);
  const neverRefreshed = (materializedViews ?? []).filter(([, , , finished]) => finished === null);
  return {
    invalid: new Map([
      ...(views ?? []).map(([name, reason]) => [nameOf(name), String(reason ?? '')] as const),
      ...invalid.map(([name, , reason]) => [nameOf(name), String(reason ?? '')] as const),
    ]),
    columns,
    neverRefreshed: new Set(neverRefreshed.map(([name]) => nameOf(name))),
    suspended: new Set((suspended ?? []).map(([name]) => nameOf(name))),
  };
}

/** A column of a view, as the server lists it. */
export interface ViewColumn {
  readonly name: string;
  readonly type: string;
  /** Whether it is the designated timestamp. */
  readonly designated: boolean;
}

/** The columns of a view; undefined if the instance does not show them. */
export async function fetchViewColumns(instance: Instance, view: string): Promise<ViewColumn[] | undefined> {
  const query = `SELECT "column", type, designated FROM table_columns(${quoteLiteral(view)})`;
  const rows = await queryIfAccepted(instance, query);
  return rows?.map(([name, type, designated]) => ({
    name: String(name),
    type: String(type),
    designated: designated === true,
  }));
}

const nameOf = (cell: unknown): string => foldCase(String(cell));

/** The rows of a query; undefined if the instance rejects it, because not every version supports it. */
export async function queryIfAccepted(instance: Instance, query: string): Promise<unknown[][] | undefined> {
  try {
    return await instance.table(query);
  } catch (error) {
    if (error instanceof InstanceError && error.serverMessage !== undefined) return undefined;
    throw error;
  }
}
