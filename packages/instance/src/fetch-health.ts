/*! What an instance reports of its objects beside their definitions: which are invalid, suspended, or without rows. */
import type { Health } from '@sqlpipe/schema';
import { foldCase, type Kind, quoteLiteral } from '@sqlpipe/sql';
import type { Instance } from './instance.js';
import { InstanceError } from './instance-error.js';

/** The rows of a query; undefined if there is no answer. */
type Query = (query: string) => Promise<unknown[][] | undefined>;

/** The health of all objects; without what the instance does not show. @throws InstanceError if it does not answer */
export async function fetchHealth(instance: Instance): Promise<Health> {
  const query: Query = sql => queryIfAccepted(instance, sql);
  const views =
    (await query('SELECT view_name, view_status, last_refresh_finish_timestamp FROM materialized_views()')) ?? [];
  const columns = new Map<string, readonly ViewColumn[]>();
  for (const [name, status] of views)
    if (status === 'invalid') columns.set(nameOf(name), (await fetchViewColumns(instance, String(name))) ?? []);
  // A refresh of a range has no finish time.
  const neverRefreshed: unknown[] = [];
  for (const [name, , finished] of views)
    if (finished === null && (await query(`SELECT 1 FROM ${quoteLiteral(String(name))} LIMIT 1`))?.length === 0)
      neverRefreshed.push(name);
  return {
    invalid: withFoldedNames(await fetchInvalidViews(query)),
    columns,
    neverRefreshed: new Set(neverRefreshed.map(nameOf)),
    suspended: withFoldedNames(await fetchSuspended(query)),
  };
}

/** The catalogue functions that list objects which can be invalid (observed on 9.3.4; the last one is of QuestDB 10). */
const VIEW_LISTS = {
  view: 'views()',
  'materialized view': 'materialized_views()',
  'live view': 'live_views()',
};

/** A kind of object that can be invalid. */
type ViewKind = keyof typeof VIEW_LISTS;

export const isViewKind = (kind: Kind): kind is ViewKind => Object.hasOwn(VIEW_LISTS, kind);

/** The views of all kinds that the instance reports as invalid, each with its reason. */
export async function fetchInvalidViews(query: Query): Promise<Map<string, string>> {
  const invalid: [string, string][] = [];
  for (const kind of Object.keys(VIEW_LISTS) as ViewKind[]) invalid.push(...(await fetchInvalid(kind, query)));
  return new Map(invalid);
}

/** The views of one kind that the instance reports as invalid, each with its reason. */
export async function fetchInvalid(kind: ViewKind, query: Query): Promise<Map<string, string>> {
  const rows = await query(
    `SELECT view_name, invalidation_reason FROM ${VIEW_LISTS[kind]} WHERE view_status = 'invalid'`,
  );
  return new Map((rows ?? []).map(([name, reason]) => [String(name), String(reason ?? 'no reason given')]));
}

/** The tables and views whose changes the instance does not apply, each with the error that it reports. */
export async function fetchSuspended(query: Query): Promise<Map<string, string>> {
  const rows = await query('SELECT name, errorMessage FROM wal_tables() WHERE suspended');
  return new Map((rows ?? []).map(([name, error]) => [String(name), String(error || 'no reason given')]));
}

const withFoldedNames = (byName: Map<string, string>): Map<string, string> =>
  new Map(Array.from(byName, ([name, value]) => [foldCase(name), value]));

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
