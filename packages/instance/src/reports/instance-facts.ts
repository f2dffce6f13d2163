/*! What comparing two schemas, and planning how one becomes the other, has to know about their instances. */
import type { MaterializedViewDefinition } from '@sqlpipe/ddl';
import { NameMap, quoteLiteral } from '@sqlpipe/sql';
import type { ConnectionConfig } from '../configuration/connection-config.js';
import { type Client, withClient } from '../http/client.js';
import { queryIfAccepted, tryQuery } from '../http/optional-queries.js';
import { InstanceError } from '../instance-error.js';
import { fetchHealth, fetchViewColumns, type ViewColumn } from './health.js';
import { fetchCommonDefaults, fetchDefaults, fetchIsEnterprise, fetchVersion } from './server-report.js';
import { fetchRefreshState, fetchRunningRefreshes, pollUntilSettled } from './view-state.js';

/** What a comparison of two schemas depends on. A side without an instance is from files. @throws InstanceError */
export async function fetchComparisonFacts(a?: ConnectionConfig, b?: ConnectionConfig, needsHealth = true) {
  const healthOf = async (config?: ConnectionConfig) =>
    needsHealth && config ? withClient(config, fetchHealth) : undefined;
  return { defaults: await fetchCommonDefaults(a, b), health: [await healthOf(a), await healthOf(b)] as const };
}

/** What is known of an instance, and functions that query its rows. They need its client, which must stay open. */
export type InstanceFacts = Awaited<ReturnType<typeof fetchInstanceFacts>>;

/** @throws InstanceError */
export const fetchInstanceFacts = async (client: Client) => ({
  defaults: await fetchDefaults(client),
  health: await fetchHealth(client),
  version: await fetchVersion(client),
  isEnterprise: await fetchIsEnterprise(client),
  fetchHistory: (view: MaterializedViewDefinition, printQuestion: PrintHistoryQuestion) =>
    fetchHistory(client, view, printQuestion),
  fetchSizes: () => fetchSizes(client),
  fetchRow: (query: string) => fetchRow(client, query),
});

/** Plans a change of B, whose instance stays connected meanwhile. If B is from files, only the defaults of A are known. */
export async function withPlanningFacts<T>(
  a: ConnectionConfig | undefined,
  b: ConnectionConfig | undefined,
  plan: (facts: Partial<InstanceFacts>) => Promise<T>,
): Promise<T> {
  if (!b) return plan({ defaults: await fetchCommonDefaults(a) });
  return withClient(b, async client => plan(await fetchInstanceFacts(client)));
}

/** The first row of a query. Undefined if the instance cannot answer it, for example because a value cannot be cast. */
const fetchRow = async (client: Client, query: string): Promise<readonly unknown[] | undefined> =>
  (await tryQuery(() => client.queryRows(query)))?.[0];

/** Prints a query about the rows that the query of a view no longer returns: their number, the first time and the last time. */
type PrintHistoryQuestion = (timestamp: string, columns: readonly ViewColumn[]) => string;

/** The rows of a materialized view that its query no longer returns, and the columns of the view. */
async function fetchHistory(client: Client, view: MaterializedViewDefinition, printQuestion: PrintHistoryQuestion) {
  const name = quoteLiteral(view.name);
  const columns = await fetchViewColumns(client, view.name);
  // A full refresh leaves out the rows that are older than the limit, although the query returns them.
  const limit = `SELECT refresh_limit FROM materialized_views() WHERE view_name = ${name}`;
  const isLimited = Number((await fetchRow(client, limit))?.[0] ?? 0) !== 0;
  if (!columns || isLimited) return { answer: 'unknown' as const, columns };
  const timestamp = view.timestamp ?? columns.find(({ designated }) => designated)?.name ?? '';
  const fetchIsEmpty = async () => (await fetchRow(client, `SELECT count() FROM ${name}`))?.[0] === 0;
  const fetchLost = async () => (await client.queryRows(printQuestion(timestamp, columns)))[0] ?? [];
  try {
    const [lost, first, last] = await pollUntilSettled(client, view.name, fetchLost, ([lost]) => Number(lost) === 0);
    if (Number(lost) === 0)
      return { answer: (await fetchIsEmpty()) ? ('none' as const) : ('recomputable' as const), columns };
    const state = `SELECT count(), max("${timestamp}") FROM ${name}`;
    const [[total, newest] = []] = await client.queryRows(state);
    const [running] = await fetchRunningRefreshes(client, name);
    // The last refresh of an invalid view may have seen only some rows of its newest interval.
    const areNewest = first === newest && (await fetchRefreshState(client, view.name))?.status === 'invalid';
    const doubt =
      running === undefined
        ? areNewest && 'the view is invalid and its newest interval was not refreshed'
        : `materialized view '${running.view}' is being refreshed; plan again when that has ended`;
    const rows = { count: Number(lost), total: Number(total), first: String(first), last: String(last) };
    return { answer: { ...rows, doubt: doubt || undefined }, columns };
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error;
    return { answer: (await fetchIsEmpty()) ? ('none' as const) : ('unknown' as const), columns };
  }
}

async function fetchSizes(client: Client) {
  const rows = await queryIfAccepted(client, 'SELECT tableName, rowCount, diskSize FROM table_storage()');
  const toEntry = ([name, rows, bytes]: unknown[]) =>
    [String(name), { rows: Number(rows), bytes: Number(bytes) }] as const;
  return rows && new NameMap(rows.map(toEntry));
}
