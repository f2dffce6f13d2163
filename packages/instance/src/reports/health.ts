import { findReferencesOfQuery, isBareName } from '@sqlpipe/ddl';
import { type Health, STALE_REASON } from '@sqlpipe/schema';
import { type Kind, NameMap, NameSet, OBJECT_KINDS, quoteLiteral } from '@sqlpipe/sql';
import { type Client, fitsRequest } from '../http/client.js';
import { type BestEffortClient, queryIfAccepted, tryIfAccepted } from '../http/optional-queries.js';
import { batchesOf, fetchInHalves } from '../http/request.js';
import { InstanceError } from '../instance-error.js';

/** Fetches the health of all objects, as far as the instance shows it. @throws InstanceError if it does not reply */
export async function fetchHealth(client: Client): Promise<Health> {
  const query = (sql: string) => queryIfAccepted(client, sql);
  const fields = 'view_name, view_status, last_refresh_start_timestamp, last_refresh_finish_timestamp';
  const views = (await query(`SELECT ${fields} FROM materialized_views()`)) ?? [];
  const columns = new NameMap<readonly ViewColumn[]>();
  const [neverRefreshed, unstarted, partlyRefreshed] = [new NameSet(), new NameSet(), new NameSet()];
  for (const [cell, status, started, finished] of views) {
    const name = String(cell);
    if (status === 'invalid') columns.set(name, (await fetchViewColumns(client, name)) ?? []);
    // A refresh of a range has no finish time.
    const rows = finished === null ? await query(`SELECT 1 FROM ${quoteLiteral(name)} LIMIT 1`) : undefined;
    if (rows) (rows.length === 0 ? neverRefreshed : partlyRefreshed).add(name);
    if (rows?.length === 0 && started === null) unstarted.add(name);
  }
  const { invalid, stale } = await fetchInvalidViews(use => tryIfAccepted(use(client)));
  return {
    invalid: new NameMap(invalid),
    stale: new NameSet(stale),
    columns,
    neverRefreshed,
    unstarted,
    partlyRefreshed,
    suspended: new NameMap(await fetchSuspended(client)),
  };
}

/** The catalogue functions that list views, by kind (observed on 9.3.4; the last one is of QuestDB 10). */
export const VIEW_LISTS = new Map<Kind, string>(
  OBJECT_KINDS.flatMap(kind => (kind === 'table' ? [] : [[kind, `${kind.replace(' ', '_')}s()`]])),
);

/** The reasons of the invalid views of some kinds, and the names of those that are stale. */
export async function fetchInvalidViews(
  attempt: BestEffortClient['attempt'],
  kinds: Iterable<Kind> = VIEW_LISTS.keys(),
): Promise<{ readonly invalid: Map<string, string>; readonly stale: readonly string[] }> {
  const invalid = new Map<string, string>();
  const stale: string[] = [];
  for (const kind of kinds) {
    const query = `SELECT view_name, invalidation_reason FROM ${VIEW_LISTS.get(kind)} WHERE view_status = 'invalid'`;
    const rows = await attempt(client => client.queryRows(query));
    for (const [name, reason] of rows ?? []) invalid.set(String(name), String(reason ?? 'no reason given'));
    if (kind !== 'view' || !rows) continue;
    for (const [name, reason] of (await attempt(fetchStaleViews)) ?? []) {
      invalid.set(name, reason);
      stale.push(name);
    }
  }
  return { invalid, stale };
}

type StaleView = readonly [name: string, reason: string];

/** The plain views that read other views and cannot be queried, although the server reports them as valid; see `STALE_REASON`. */
async function fetchStaleViews(client: Client): Promise<StaleView[]> {
  const rows = await client.queryRows("SELECT view_name, view_sql FROM views() WHERE view_status = 'valid'");
  const names = new NameSet(rows.map(([name]) => String(name)));
  const readers = rows.filter(([, query]) => findReferencesOfQuery(String(query)).some(each => names.has(each)));
  const stale: StaleView[] = [];
  for (const batch of batchesOf(readers.map(([name]) => String(name))))
    stale.push(...(await fetchInHalves(batch, views => fetchStaleBatch(client, views))));
  return stale;
}

/**
 * The stale views among some, by one query. Undefined if it fails for one of several views. Only names that need quotes have them, because
 * 9.3.0 cannot read a plain view by a quoted name.
 */
async function fetchStaleBatch(client: Client, views: readonly string[]): Promise<StaleView[] | undefined> {
  const names = views.map(view => (isBareName(view) ? view : quoteLiteral(view)));
  const query = names.map(each => `SELECT 1 FROM (SELECT * FROM ${each} LIMIT 0)`).join(' UNION ALL ');
  const [name = '', ...others] = views;
  if (others.length > 0 && !fitsRequest(client, query)) return undefined;
  try {
    await client.queryRows(query);
    return [];
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error;
    // A NullPointerException. Another failure of the server does not show that the view is stale.
    const isRejected = /answered 500: Cannot invoke ".*" is null/.test(error.message) || error.code === 'REJECTED';
    if (!isRejected && error.code !== 'DENIED') throw error;
    if (others.length > 0) return undefined;
    return isRejected ? [[name, error.serverMessage ?? STALE_REASON]] : [];
  }
}

/** The errors of tables and views whose changes the instance does not apply, by name. */
export async function fetchSuspended(client: Client): Promise<Map<string, string>> {
  const rows = await queryIfAccepted(client, 'SELECT name, errorMessage FROM wal_tables() WHERE suspended');
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
