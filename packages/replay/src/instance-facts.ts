import type { Defaults } from '@sqlpipe/ddl';
import {
  askUntilSettled,
  type Client,
  type ConnectionConfig,
  fetchCommonDefaults,
  fetchDefaults,
  fetchHealth,
  fetchRefreshState,
  fetchRunningRefreshes,
  fetchVersion,
  fetchViewColumns,
  InstanceError,
  isEnterprise,
  queryIfAccepted,
  tryQuery,
  withClient,
} from '@sqlpipe/instance';
import type { PlanOptions, RowQueries, StoredSize } from '@sqlpipe/plan';
import { type AskHistory, printHistoryQuestion } from '@sqlpipe/plan/text';
import { type CompareSchemasOptions, compareSchemas, type SchemaComparison } from '@sqlpipe/schema';
import { NameMap, quoteLiteral } from '@sqlpipe/sql';

export type InstanceFacts = Pick<PlanOptions, 'health' | 'version' | 'isEnterprise'> &
  RowQueries & { readonly defaults: Defaults };

export async function fetchInstanceFacts(client: Client): Promise<InstanceFacts> {
  return {
    defaults: await fetchDefaults(client),
    health: await fetchHealth(client),
    version: await fetchVersion(client),
    isEnterprise: await isEnterprise(client),
    askHistory: view => askHistory(client, view),
    askSizes: () => askSizes(client),
    askRow: query => askRow(client, query),
  };
}

/** One of two schemas. `config` is missing if the schema is from files. */
export interface SchemaSide {
  readonly statements: readonly string[];
  readonly config?: ConnectionConfig | undefined;
}

/** Compares two schemas with the defaults that their instances report; if `needsHealth`, also with the health. */
export async function compareSides(
  a: SchemaSide,
  b: SchemaSide,
  options: Omit<CompareSchemasOptions, 'defaults' | 'health'>,
  needsHealth = true,
): Promise<SchemaComparison> {
  const healthOf = async ({ config }: SchemaSide) =>
    needsHealth && config ? withClient(config, fetchHealth) : undefined;
  return compareSchemas(a.statements, b.statements, {
    ...options,
    defaults: await fetchCommonDefaults(a.config, b.config),
    health: [await healthOf(a), await healthOf(b)],
  });
}

/** Fetches what a planner has to know about the instances of two schemas, and plans while that of B is connected. */
export async function planSides<T>(
  { config: a }: SchemaSide,
  { config: b }: SchemaSide,
  plan: (facts: Partial<InstanceFacts> & Pick<PlanOptions, 'skipInvalid'>) => Promise<T>,
): Promise<T> {
  const skipInvalid = a !== undefined;
  if (!b) return plan({ skipInvalid, defaults: await fetchCommonDefaults(a) });
  return withClient(b, async client => plan({ skipInvalid, ...(await fetchInstanceFacts(client)) }));
}

/** Undefined if the instance cannot answer the query, for example because a value cannot be cast. */
const askRow = async (client: Client, query: string): Promise<readonly unknown[] | undefined> =>
  (await tryQuery(() => client.queryRows(query)))?.[0];

async function askHistory(client: Client, view: Parameters<AskHistory>[0]): ReturnType<AskHistory> {
  const columns = await fetchViewColumns(client, view.name);
  // A full refresh leaves out the rows that are older than the limit, although the query returns them.
  const limit = `SELECT refresh_limit FROM materialized_views() WHERE view_name = ${quoteLiteral(view.name)}`;
  const isLimited = Number((await askRow(client, limit))?.[0] ?? 0) !== 0;
  if (!columns || isLimited) return { answer: 'unknown', columns };
  const timestamp = view.timestamp ?? columns.find(({ designated }) => designated)?.name ?? '';
  const count = async () => (await askRow(client, `SELECT count() FROM ${quoteLiteral(view.name)}`))?.[0];
  const ask = async () => (await client.queryRows(printHistoryQuestion(view, timestamp, columns)))[0] ?? [];
  try {
    const [lost, first, last] = await askUntilSettled(client, view.name, ask, ([lost]) => Number(lost) === 0);
    if (Number(lost) === 0) {
      return { answer: Number(await count()) === 0 ? 'none' : 'recomputable', columns };
    }
    const state = `SELECT count(), max("${timestamp}") FROM ${quoteLiteral(view.name)}`;
    const [[total, newest] = []] = await client.queryRows(state);
    const [running] = await fetchRunningRefreshes(client, quoteLiteral(view.name));
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
    return { answer: (await count()) === 0 ? 'none' : 'unknown', columns };
  }
}

async function askSizes(client: Client): Promise<NameMap<StoredSize> | undefined> {
  const rows = await queryIfAccepted(client, 'SELECT tableName, rowCount, diskSize FROM table_storage()');
  const toEntry = ([name, rows, bytes]: unknown[]) =>
    [String(name), { rows: Number(rows), bytes: Number(bytes) }] as const;
  return rows && new NameMap(rows.map(toEntry));
}
