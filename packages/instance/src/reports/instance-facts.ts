/*! What instances report of themselves, and what comparing two schemas and planning how one becomes the other needs to know of them. */
import { type Defaults, type MaterializedViewDefinition, SERVER_DEFAULTS } from '@sqlpipe/ddl';
import { NameMap, quoteLiteral } from '@sqlpipe/sql';
import type { ConnectionConfig } from '../configuration/connection-config.js';
import { type Client, withClient } from '../http/client.js';
import { queryIfAccepted, tryIfAccepted } from '../http/optional-queries.js';
import { InstanceError } from '../instance-error.js';
import { fetchHealth, fetchInvalidViews, fetchSuspended, fetchViewColumns, type ViewColumn } from './health.js';
import { fetchRefreshState, fetchRunningRefreshes, pollUntilSettled } from './view-state.js';

/**
 * What an instance reports of itself; `unknown` stands for what it does not report.
 * @throws InstanceError if there is no QuestDB server at the address, or it does not answer this user
 */
export const fetchServerReport = (config: ConnectionConfig) =>
  withClient(config, async client => {
    const queryFirstColumn = async (sql: string) =>
      (await queryIfAccepted(client, sql))?.map(([value]) => String(value));
    const [[build] = []] = await client.queryRows('SELECT build()');
    const parameters = await fetchParameters(client);
    const hasAccessControl = await fetchWhetherEnterprise(client);
    // Servers list none for a built-in administrator.
    const permissions = hasAccessControl ? ((await queryFirstColumn('SHOW PERMISSIONS')) ?? []) : [];
    const mayCreate = !permissions.length || permissions.some(each => /^(ALL|CREATE TABLE)$/i.test(each));
    // A token contains no user.
    const given = config.authorization === undefined ? 'none given' : (config.user ?? 'whose token it is');
    return {
      endpoint: client.endpoint,
      version: String(build).replace(/^Build Information: /, ''),
      user: (await queryFirstColumn('SELECT current_user()'))?.[0] ?? given,
      accessControl: hasAccessControl ? 'on' : 'off',
      permissions: [...new Set(permissions)],
      requestLimit: parameters.get('http.request.header.buffer.size') ?? 'unknown',
      invalid: (await fetchInvalidViews(use => tryIfAccepted(use(client)))).invalid,
      suspended: await fetchSuspended(client),
      ...(isReadOnly(parameters) && { denied: 'the server is read-only, so no schema can be applied to it' }),
      ...(!mayCreate && { denied: 'this user has no permission CREATE TABLE, so no schema can be applied to it' }),
    };
  });

/** The instance's own defaults; those that it does not show are the defaults of a server without configuration. */
export const fetchDefaults = async (client: Client): Promise<Defaults> => toDefaults(await fetchParameters(client));

const isReadOnly = (parameters: ReadonlyMap<string, string>): boolean =>
  ['readonly', 'http.security.readonly'].some(name => parameters.get(name) === 'true');

function toDefaults(parameters: ReadonlyMap<string, string>): Defaults {
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
async function fetchCommonDefaults(a?: ConnectionConfig, b?: ConnectionConfig): Promise<Defaults> {
  const config = a ?? b;
  return !config || (a && b) ? SERVER_DEFAULTS : withClient(config, fetchDefaults);
}

/** Values of SHOW PARAMETERS by property; empty if the instance does not show them. */
export async function fetchParameters(client: Client): Promise<Map<string, string>> {
  const query = 'SELECT property_path, value FROM (SHOW PARAMETERS)';
  const rows = (await queryIfAccepted(client, query)) ?? [];
  return new Map(rows.map(([path, value]) => [String(path), String(value)]));
}

/** The editions of the instances that have answered: an edition does not change while a client is connected. */
const enterpriseClients = new WeakMap<Client, boolean>();

/**
 * Whether an instance is of the enterprise edition, the only one with access control. Only such a server knows SHOW USERS, even if it
 * denies the answer. A client asks once. @throws InstanceError if there is no answer
 */
export async function fetchWhetherEnterprise(client: Client): Promise<boolean> {
  const known = enterpriseClients.get(client);
  if (known !== undefined) return known;
  const isEnterprise = await client.queryRows('SHOW USERS').then(
    () => true,
    error => {
      if (!(error instanceof InstanceError) || error.serverMessage === undefined) throw error;
      return error.code === 'DENIED';
    },
  );
  enterpriseClients.set(client, isEnterprise);
  return isEnterprise;
}

/** The version of an instance of the open source edition, such as `9.3.4`; undefined if it reports none. @throws InstanceError */
export async function fetchVersion(client: Client): Promise<string | undefined> {
  const [[build] = []] = (await queryIfAccepted(client, 'SELECT build()')) ?? [];
  // The enterprise edition has version numbers of its own.
  return /^(?!.*enterprise).*\bQuestDB (\d+\.\d+(?:\.\d+)?)/i.exec(String(build))?.[1];
}

/** What a comparison of two schemas depends on. A side without an instance is from files. @throws InstanceError */
export async function fetchComparisonFacts(a?: ConnectionConfig, b?: ConnectionConfig, needsHealth = true) {
  const healthOf = async (config?: ConnectionConfig) =>
    needsHealth && config ? withClient(config, fetchHealth) : undefined;
  return { defaults: await fetchCommonDefaults(a, b), health: [await healthOf(a), await healthOf(b)] as const };
}

/** Receives why an instance has not answered a question about rows. */
type Warn = (message: string) => void;

/** What is known of an instance, and functions that query its rows. They need its client, which must stay open. */
export type InstanceFacts = Awaited<ReturnType<typeof fetchInstanceFacts>>;

/** @throws InstanceError */
export async function fetchInstanceFacts(client: Client, warn: Warn) {
  const warnings = new Set<string>();
  const warnOnce: Warn = message => {
    if (!warnings.has(message)) warn(message);
    warnings.add(message);
  };
  const parameters = await fetchParameters(client);
  return {
    defaults: toDefaults(parameters),
    isReadOnly: isReadOnly(parameters),
    health: await fetchHealth(client),
    version: await fetchVersion(client),
    isEnterprise: await fetchWhetherEnterprise(client),
    fetchHistory: (view: MaterializedViewDefinition, printQuestion: PrintHistoryQuestion) =>
      fetchHistory(client, view, printQuestion, warnOnce),
    fetchSizes: () => fetchSizes(client, warnOnce),
    fetchRow: (query: string) => fetchRow(client, query, warnOnce),
  };
}

/** Plans a change of B, whose instance stays connected meanwhile. If B is from files, only the defaults of A are known. */
export async function withPlanningFacts<T>(
  a: ConnectionConfig | undefined,
  b: ConnectionConfig | undefined,
  warn: Warn,
  plan: (facts: Partial<InstanceFacts>) => Promise<T>,
): Promise<T> {
  if (!b) return plan({ defaults: await fetchCommonDefaults(a) });
  return withClient(b, async client => plan(await fetchInstanceFacts(client, warn)));
}

/**
 * The result of queries; undefined if the instance rejects one. `unknown`, with a warning, if the instance works but gives no answer, for
 * example because a query needs longer than the time limit.
 * @throws InstanceError if the instance is gone
 */
async function fetchIfAnswered<T>(client: Client, warn: Warn, queries: Promise<T>) {
  try {
    return await tryIfAccepted(queries);
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error;
    await fetchVersion(client); // throws if the instance is gone
    warn(`a question was not answered, so what depends on it is unknown: ${error.message}`);
    return 'unknown';
  }
}

/** The first row of a query, see `fetchIfAnswered`. A server rejects it, for example, if a value cannot be cast. */
async function fetchRow(client: Client, query: string, warn: Warn) {
  const rows = await fetchIfAnswered(client, warn, client.queryRows(query));
  return rows === 'unknown' ? rows : rows?.[0];
}

/** Prints a query about the rows that the query of a view no longer returns: their number, the first time and the last time. */
type PrintHistoryQuestion = (timestamp: string, columns: readonly ViewColumn[]) => string;

/** The rows of a materialized view that its query no longer returns, and the columns of the view. */
async function fetchHistory(
  client: Client,
  view: MaterializedViewDefinition,
  printQuestion: PrintHistoryQuestion,
  warn: Warn,
) {
  const name = quoteLiteral(view.name);
  const columns = await fetchViewColumns(client, view.name);
  // A full refresh leaves out the rows that are older than the limit, although the query returns them.
  const limitQuery = `SELECT refresh_limit FROM materialized_views() WHERE view_name = ${name}`;
  const limit = await fetchRow(client, limitQuery, warn);
  if (!columns || limit === 'unknown' || Number(limit?.[0] ?? 0) !== 0) return { answer: 'unknown' as const, columns };
  const timestamp = view.timestamp ?? columns.find(({ designated }) => designated)?.name ?? '';
  const fetchLost = async () => {
    const fetchLostRow = async () => (await client.queryRows(printQuestion(timestamp, columns)))[0] ?? [];
    const [lost, first, last] = await pollUntilSettled(client, view.name, fetchLostRow, ([lost]) => Number(lost) === 0);
    if (Number(lost) === 0) return 'recomputable' as const;
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
    return { ...rows, doubt: doubt || undefined };
  };
  const answer = (await fetchIfAnswered(client, warn, fetchLost())) ?? ('unknown' as const);
  if (typeof answer !== 'string') return { answer, columns };
  const count = await fetchRow(client, `SELECT count() FROM ${name}`, warn);
  return { answer: count?.[0] === 0 ? ('none' as const) : answer, columns };
}

async function fetchSizes(client: Client, warn: Warn) {
  const query = 'SELECT tableName, rowCount, diskSize FROM table_storage()';
  const rows = await fetchIfAnswered(client, warn, client.queryRows(query));
  const toEntry = ([name, rows, bytes]: unknown[]) =>
    [String(name), { rows: Number(rows), bytes: Number(bytes) }] as const;
  return rows === undefined || rows === 'unknown' ? undefined : new NameMap(rows.map(toEntry));
}
