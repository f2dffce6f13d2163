/*! Prints the tables of a server without SHOW CREATE TABLE (8.1.4), from its catalogue functions, as later servers print them. */
import { type Column, type PartitionUnit, printDefinition, toAge } from '@sqlpipe/ddl';
import { type KindAndName, NameMap, quoteLiteral } from '@sqlpipe/sql';
import type { Client } from '../http/client.js';
import { tryIfSupported, tryQuery } from '../http/optional-queries.js';

const PROPERTIES = 'table_name, designatedTimestamp, partitionBy, walEnabled, maxUncommittedRows, o3MaxLag';

/** The CREATE statement of each table. Undefined for an object of another kind, because such a server has only tables. */
export async function reconstructTables(
  client: Client,
  objects: readonly KindAndName[],
): Promise<(string | undefined)[]> {
  const list = (columns: string) => client.queryRows(`SELECT ${columns} FROM tables()`);
  const rows = (await tryIfSupported(() => list(`${PROPERTIES}, ttlValue, ttlUnit`))) ?? (await list(PROPERTIES));
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
  const rows = await tryQuery(
    () => client.queryRows(`SELECT ${columns} FROM table_columns(${quoteLiteral(table)})`),
    error => error.matches(/does not exist/),
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
