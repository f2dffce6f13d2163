/*! Fetches the CREATE statements of objects as the instance prints them, many per request. A request that is too large is halved. */
import { type Column, type PartitionUnit, printDefinition, toAge } from '@sqlpipe/ddl';
import { MemoryBudget } from '@sqlpipe/schema';
import { displayName, type KindAndName, kindKeywords, NameMap, NameSet, quoteLiteral } from '@sqlpipe/sql';
import { escapeControls } from '@sqlpipe/text';
import { type Client, fitsRequest } from '../http/client.js';
import { MalformedReplyError } from '../http/json-scanner.js';
import { isUnsupported, tryIfSupported, tryQuery, UNKNOWN_SHOW_CREATE } from '../http/optional-queries.js';
import { batchesOf, fetchInHalves } from '../http/request.js';
import { InstanceError } from '../instance-error.js';
import { fetchViewNames } from './fetch-objects.js';

/** Maximum length of the statements in one reply, in UTF-16 code units. A longer batch is requested in halves. */
const MAX_REPLY_LENGTH = 64 * 1024 * 1024;

/**
 * Fetches the statement of each object, in the order of `objects`. Undefined for an object that does not exist with this kind.
 * @param onDenied without it, an object that may not be read is an error
 * @throws InstanceError if a query fails
 */
export async function fetchStatements(
  client: Client,
  objects: readonly KindAndName[],
  onDenied?: OnDenied,
): Promise<(string | undefined)[]> {
  const statements: (string | undefined)[] = [];
  for (const batch of batchesOf(objects)) {
    const printed = await fetchUncheckedStatements(client, batch, onDenied);
    const names = batch.flatMap(({ kind, name }, i) => (kind === 'table' && printed[i] !== undefined ? name : []));
    // 9.3.4 answers SHOW CREATE TABLE of a view with a CREATE TABLE that has the view's columns.
    const views = names.length ? await fetchViewNames(client, names) : new NameSet();
    const isView = ({ kind, name }: KindAndName) => kind === 'table' && views.has(name);
    statements.push(...batch.map((object, i) => (isView(object) ? undefined : printed[i])));
  }
  return statements;
}

/** Receives each object that the account may not read, and the server's message. Its statement is then undefined. */
type OnDenied = (object: KindAndName, message: string) => void;

/** As `fetchStatements`, but does not check kinds: if a view is requested as a `table`, its statement is CREATE TABLE. */
export const fetchUncheckedStatements: typeof fetchStatements = async (client, objects, onDenied) =>
  (await tryIfSupported(fetchPrinted(client, objects, onDenied))) ?? reconstructTables(client, objects);

const fetchPrinted: typeof fetchStatements = async (client, objects, onDenied) => {
  const statements: (string | undefined)[] = [];
  const budget = new MemoryBudget();
  for (const batch of batchesOf(objects))
    for (const row of await fetchInHalves(batch, half => fetchBatch(client, half, onDenied))) {
      if (row !== undefined) budget.add(row);
      statements.push(row);
    }
  return statements;
};

/** The statements of a batch, in one request. Undefined if the batch must be halved: it is too large, or one object cannot be shown. */
async function fetchBatch(client: Client, objects: readonly KindAndName[], onDenied: OnDenied | undefined) {
  const queries = objects.map(({ kind, name }) => `SHOW CREATE ${kindKeywords(kind)} ${quoteLiteral(name)}`);
  const query = queries.join(' UNION ALL ');
  if (objects.length > 1 && !fitsRequest(client, query)) return undefined;
  const rows: string[] = [];
  let length = 0;
  try {
    for await (const batch of client.streamFirstColumn(query))
      for (const row of batch) {
        rows.push(row);
        length += row.length;
        if (rows.length > objects.length) throw wrongCountError(client, objects.length, 'more');
        if (length > MAX_REPLY_LENGTH && objects.length > 1) return undefined;
      }
  } catch (error) {
    if (!(error instanceof InstanceError) || isUnsupported(error)) throw error;
    const denial = error.code === 'DENIED' && onDenied ? error.serverMessage : undefined;
    // One object may have caused the error if the server rejects it, or if a stream cannot contain its statement.
    const mayConcernOneObject = error.code === 'REJECTED' || error.cause instanceof MalformedReplyError;
    if (denial === undefined && !mayConcernOneObject) throw error;
    const [object, ...moreObjects] = objects;
    if (!object || moreObjects.length > 0) return undefined;
    if (denial !== undefined) onDenied?.(object, denial);
    // For an object that does not exist, or has another or an unknown kind (observed on 9.3.4)
    const notFound = [/does not exist/, /name expected, got/, UNKNOWN_SHOW_CREATE];
    if (denial !== undefined || notFound.some(pattern => error.matches(pattern))) return [undefined];
    const { label } = client;
    throw error.withMessage(`${label}: ${escapeControls(displayName(object))}${error.message.slice(label.length)}`);
  }
  if (rows.length !== objects.length) throw wrongCountError(client, objects.length, `${rows.length}`);
  return rows;
}

const wrongCountError = ({ label }: Client, requested: number, received: string): InstanceError =>
  new InstanceError(
    'PROTOCOL',
    `${label}: requested ${requested} statements and received ${received}; does a proxy change the replies?`,
  );

const PROPERTIES = 'table_name, designatedTimestamp, partitionBy, walEnabled, maxUncommittedRows, o3MaxLag';

/**
 * Prints tables of a server without SHOW CREATE TABLE (8.1.4), from its catalogue functions, as later servers print them. Undefined for an
 * object of another kind, because such a server has only tables.
 */
async function reconstructTables(client: Client, objects: readonly KindAndName[]): Promise<(string | undefined)[]> {
  const list = (columns: string) => client.queryRows(`SELECT ${columns} FROM tables()`);
  const rows = (await tryIfSupported(list(`${PROPERTIES}, ttlValue, ttlUnit`))) ?? (await list(PROPERTIES));
  const rowsByName = new NameMap(rows.map(row => [String(row[0]), row]));
  const statements: (string | undefined)[] = [];
  for (const { kind, name } of objects) {
    const properties = kind === 'table' ? rowsByName.get(name) : undefined;
    const columns = properties && (await fetchColumns(client, String(properties[0])));
    statements.push(columns && printTable(properties, columns));
  }
  return statements;
}

async function fetchColumns(client: Client, table: string): Promise<Column[] | undefined> {
  const columns = '"column", type, indexed, indexBlockCapacity, symbolCached, symbolCapacity, upsertKey';
  const rows = await tryQuery(client.queryRows(`SELECT ${columns} FROM table_columns(${quoteLiteral(table)})`), error =>
    error.matches(/does not exist/),
  );
  return rows?.map(([name, type, indexed, block, cached, capacity, key]) => ({
    name: String(name),
    type: String(type),
    cached: cached === true,
    dedup: key === true,
    ...(type === 'SYMBOL' && { capacity: Number(capacity) }),
    ...(indexed === true && { index: { type: 'BITMAP', capacity: Number(block) } }),
  }));
}

function printTable(properties: unknown[], columns: Column[]): string {
  const [name, timestamp, partitionBy, wal, rows, lag, ttl = 0, unit = 'HOUR'] = properties;
  return printDefinition(
    {
      kind: 'table',
      name: String(name),
      columns,
      timestamp: timestamp === null || timestamp === '' ? undefined : String(timestamp),
      partitionBy: String(partitionBy) as PartitionUnit,
      wal: wal === true,
      isParquet: false,
      ttl: toAge(Number(ttl), String(unit)),
      maxUncommittedRows: Number(rows),
      o3MaxLag: Number(lag),
    },
    { form: '9.0', quoted: true },
  );
}
