import { findReferencesOfQuery } from '@sqlpipe/ddl';
import { type Health, STALE_REASON } from '@sqlpipe/schema';
import { type Kind, NameMap, NameSet, OBJECT_KINDS, quoteLiteral } from '@sqlpipe/sql';
import type { Client } from '../http/client.js';
import { queryIfAccepted, tryQuery } from '../http/optional-queries.js';
import type { InstanceError } from '../instance-error.js';

type RunQuery = (query: string) => Promise<unknown[][] | undefined>;

/** Fetches the health of all objects, as far as the instance shows it. @throws InstanceError if it does not reply */
export async function fetchHealth(client: Client): Promise<Health> {
  const query: RunQuery = sql => queryIfAccepted(client, sql);
  const views =
    (await query('SELECT view_name, view_status, last_refresh_finish_timestamp FROM materialized_views()')) ?? [];
  const columns = new NameMap<readonly ViewColumn[]>();
  for (const [name, status] of views)
    if (status === 'invalid') columns.set(String(name), (await fetchViewColumns(client, String(name))) ?? []);
  const [neverRefreshed, partlyRefreshed] = [new NameSet(), new NameSet()];
  for (const [name, , finished] of views) {
    // A refresh of a range has no finish time.
    const rows = finished === null ? await query(`SELECT 1 FROM ${quoteLiteral(String(name))} LIMIT 1`) : undefined;
    if (rows) (rows.length === 0 ? neverRefreshed : partlyRefreshed).add(String(name));
  }
  const invalid = await fetchInvalidViews(query);
  const stale = await fetchStaleViews(client);
  return {
    invalid: new NameMap([...stale, ...invalid]),
    stale: new NameSet(stale.keys()),
    columns,
    neverRefreshed,
    partlyRefreshed,
    suspended: new NameMap(await fetchSuspended(query)),
  };
}

/** The catalogue functions that list views, by kind (observed on 9.3.4; the last one is of QuestDB 10). */
export const VIEW_LISTS = new Map<Kind, string>(
  OBJECT_KINDS.flatMap(kind => (kind === 'table' ? [] : [[kind, `${kind.replace(' ', '_')}s()`]])),
);

/** The reasons of invalid views, by name. @param lists functions that list views */
export async function fetchInvalidViews(
  query: RunQuery,
  lists: Iterable<string> = VIEW_LISTS.values(),
): Promise<Map<string, string>> {
  const invalid = new Map<string, string>();
  for (const list of lists) {
    const rows = await query(`SELECT view_name, invalidation_reason FROM ${list} WHERE view_status = 'invalid'`);
    for (const [name, reason] of rows ?? []) invalid.set(String(name), String(reason ?? 'no reason given'));
  }
  return invalid;
}

/** The reasons why plain views that read other views cannot be queried, although the server reports them as valid; see `STALE_REASON`. */
async function fetchStaleViews(client: Client): Promise<Map<string, string>> {
  const rows = await queryIfAccepted(client, "SELECT view_name, view_sql FROM views() WHERE view_status = 'valid'");
  const views = new NameMap((rows ?? []).map(([name, query]) => [String(name), String(query)]));
  const stale = new Map<string, string>();
  for (const [name, query] of views) {
    if (!findReferencesOfQuery(query).some(each => views.has(each))) continue;
    const isExpected = ({ status, code, serverMessage = STALE_REASON }: InstanceError): boolean => {
      const isRejected = status === 500 || code === 'REJECTED';
      if (isRejected) stale.set(name, serverMessage);
      return isRejected || code === 'DENIED';
    };
    await tryQuery(() => client.queryRows(`SELECT * FROM ${quoteLiteral(name)} LIMIT 0`), isExpected);
  }
  return stale;
}

/** The errors of tables and views whose changes the instance does not apply, by name. */
export async function fetchSuspended(query: RunQuery): Promise<Map<string, string>> {
  const rows = await query('SELECT name, errorMessage FROM wal_tables() WHERE suspended');
  return new Map((rows ?? []).map(([name, error]) => [String(name), String(error || 'no reason given')]));
}

export interface ViewColumn {
  readonly name: string;
  readonly type: string;
  readonly designated: boolean;
}

/** The columns of a view; undefined if the instance does not show them. */
export async function fetchViewColumns(client: Client, view: string): Promise<ViewColumn[] | undefined> {
  const query = `SELECT "column", type, designated FROM table_columns(${quoteLiteral(view)})`;
  const rows = await queryIfAccepted(client, query);
  return rows?.map(([name, type, designated]) => ({
    name: String(name),
    type: String(type),
    designated: designated === true,
  }));
}
