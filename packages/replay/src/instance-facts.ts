import type { Defaults } from '@sqlpipe/ddl';
import {
  askUntilSettled,
  type ConnectionConfig,
  fetchCommonDefaults,
  fetchDefaults,
  fetchHealth,
  fetchRefreshState,
  fetchRunningRefreshes,
  fetchVersion,
  fetchViewColumns,
  type Instance,
  InstanceError,
  isEnterprise,
  queryIfAccepted,
  tryQuery,
  withInstance,
} from '@sqlpipe/instance';
import type { PlanOptions, RowQueries, StoredSize } from '@sqlpipe/plan';
import { type AskHistory, printHistoryQuestion } from '@sqlpipe/plan/text';
import { type CompareSchemasOptions, compareSchemas, type SchemaComparison } from '@sqlpipe/schema';
import { NameMap, quoteLiteral } from '@sqlpipe/sql';

export type InstanceFacts = Pick<PlanOptions, 'health' | 'version' | 'isEnterprise'> &
  RowQueries & { readonly defaults: Defaults };

export async function fetchInstanceFacts(instance: Instance): Promise<InstanceFacts> {
  return {
    defaults: await fetchDefaults(instance),
    health: await fetchHealth(instance),
    version: await fetchVersion(instance),
    isEnterprise: await isEnterprise(instance),
    askHistory: view => askHistory(instance, view),
    askSizes: () => askSizes(instance),
    askRow: query => askRow(instance, query),
  };
}

/** One of two schemas. `instance` is missing if the schema is from files. */
export interface SchemaSide {
  readonly statements: readonly string[];
  readonly instance?: ConnectionConfig | undefined;
}

/** Compares two schemas with the defaults that their instances report; if `needsHealth`, also with the health. */
export async function compareSides(
  a: SchemaSide,
  b: SchemaSide,
  options: Omit<CompareSchemasOptions, 'defaults' | 'health'>,
  needsHealth = true,
): Promise<SchemaComparison> {
  const healthOf = async ({ instance }: SchemaSide) =>
    needsHealth && instance ? withInstance(instance, fetchHealth) : undefined;
  return compareSchemas(a.statements, b.statements, {
    ...options,
    defaults: await fetchCommonDefaults(a.instance, b.instance),
    health: [await healthOf(a), await healthOf(b)],
  });
}

/** Fetches what a planner has to know about the instances of two schemas, and plans while that of B is connected. */
export async function planSides<T>(
  { instance: a }: SchemaSide,
  { instance: b }: SchemaSide,
  plan: (facts: Partial<InstanceFacts> & Pick<PlanOptions, 'skipInvalid'>) => Promise<T>,
): Promise<T> {
  const skipInvalid = a !== undefined;
  if (!b) return plan({ skipInvalid, defaults: await fetchCommonDefaults(a) });
  return withInstance(b, async instance => plan({ skipInvalid, ...(await fetchInstanceFacts(instance)) }));
}

/** Undefined if the instance cannot answer the query, for example because a value cannot be cast. */
const askRow = async (instance: Instance, query: string): Promise<readonly unknown[] | undefined> =>
  (await tryQuery(() => instance.queryRows(query)))?.[0];

async function askHistory(instance: Instance, view: Parameters<AskHistory>[0]): ReturnType<AskHistory> {
  const columns = await fetchViewColumns(instance, view.name);
  // A full refresh leaves out the rows that are older than the limit, although the query returns them.
  const limit = `SELECT refresh_limit FROM materialized_views() WHERE view_name = ${quoteLiteral(view.name)}`;
  const isLimited = Number((await askRow(instance, limit))?.[0] ?? 0) !== 0;
  if (!columns || isLimited) return { answer: 'unknown', columns };
  const timestamp = view.timestamp ?? columns.find(({ designated }) => designated)?.name ?? '';
  const count = async () => (await askRow(instance, `SELECT count() FROM ${quoteLiteral(view.name)}`))?.[0];
  const ask = async () => (await instance.queryRows(printHistoryQuestion(view, timestamp, columns)))[0] ?? [];
  try {
    const [lost, first, last] = await askUntilSettled(instance, view.name, ask, ([lost]) => Number(lost) === 0);
    if (Number(lost) === 0) {
      return { answer: Number(await count()) === 0 ? 'none' : 'recomputable', columns };
    }
    const state = `SELECT count(), max("${timestamp}") FROM ${quoteLiteral(view.name)}`;
    const [[total, newest] = []] = await instance.queryRows(state);
    const [running] = await fetchRunningRefreshes(instance, quoteLiteral(view.name));
    // The last refresh of an invalid view may have seen only some rows of its newest interval.
    const areNewest = first === newest && (await fetchRefreshState(instance, view.name))?.status === 'invalid';
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

async function askSizes(instance: Instance): Promise<NameMap<StoredSize> | undefined> {
  const rows = await queryIfAccepted(instance, 'SELECT tableName, rowCount, diskSize FROM table_storage()');
  const toEntry = ([name, rows, bytes]: unknown[]) =>
    [String(name), { rows: Number(rows), bytes: Number(bytes) }] as const;
  return rows && new NameMap(rows.map(toEntry));
}
