/*!
 * Servers from 9.3 on do not print symbol capacities, but show them in table_columns(). A server raises a capacity that is nearly used up
 * (observed on 9.3.4). A capacity that is larger than the symbols need was requested by a user. Only such a capacity is dumped.
 */
import { DEFAULT_CAPACITY, quoteName } from '@sqlpipe/ddl';
import { quoteLiteral } from '@sqlpipe/sql';
import { type Client, fitsRequest } from '../http/client.js';
import { type BestEffortClient, tryQuery } from '../http/optional-queries.js';
import { batchesOf, fetchInHalves } from '../http/request.js';
import { fetchParameters } from '../reports/instance-facts.js';

const TABLE = /^CREATE TABLE '([^']+)' \( \n/;

/** Completes statements by symbol capacities; leaves them as they are if the instance does not show them. */
export class SymbolCapacities {
  #isShown = true;
  #parameters: ReadonlyMap<string, string> | undefined;

  constructor(private readonly attempt: BestEffortClient['attempt']) {}

  async complete(statements: string[]): Promise<string[]> {
    if (!this.#isShown) return statements;
    const tables = statements.flatMap((statement, index) => {
      const name = TABLE.exec(statement)?.[1];
      const mayLackCapacity = / SYMBOL(?:[,\n]| (?!CAPACITY))/.test(statement); // a text may only look like a symbol column
      return name !== undefined && mayLackCapacity ? { name, index } : [];
    });
    if (!tables.length) return statements;
    this.#parameters ??= (await this.attempt(fetchParameters)) ?? new Map<string, string>();
    const usual = this.#number('cairo.default.symbol.capacity', DEFAULT_CAPACITY);
    const completed = [...statements];
    for (const batch of batchesOf(tables)) {
      const rows = await this.attempt(client => fetchInHalves(batch, some => fetchCapacities(client, some, usual)));
      this.#isShown = rows !== undefined;
      if (!rows) break;
      for (const [index, column, capacity, used] of rows) {
        const statement = completed[Number(index)];
        if (statement !== undefined && this.#isRequested(Number(capacity), Number(used)))
          completed[Number(index)] = withCapacity(statement, String(column), Number(capacity));
      }
    }
    return completed;
  }

  #number(path: string, fallback: number): number {
    return Number(this.#parameters?.get(path)) || fallback;
  }

  #isRequested(capacity: number, used: number): boolean {
    if (this.#parameters?.get('cairo.auto.scale.symbol.capacity') === 'false') return true;
    // The server doubles a capacity when this part of it is used.
    return used <= (capacity / 2) * this.#number('cairo.auto.scale.symbol.capacity.threshold', 0.8);
  }
}

/** The larger capacities of tables, in one request. Undefined if the request is too large, or one of several tables is gone. */
async function fetchCapacities(client: Client, tables: readonly { name: string; index: number }[], usual: number) {
  const query = tables
    .map(
      ({ name, index }) =>
        `SELECT ${index}, "column", symbolCapacity, symbolTableSize FROM table_columns(${quoteLiteral(name)}) WHERE symbolCapacity > ${usual}`,
    )
    .join(' UNION ALL ');
  if (tables.length > 1 && !fitsRequest(client, query)) return undefined;
  const rows = await tryQuery(client.queryRows(query), error => error.matches(/does not exist/));
  return rows ?? (tables.length > 1 ? undefined : []);
}

/** The statement with the capacity where servers before 9.3 print it. */
function withCapacity(statement: string, column: string, capacity: number): string {
  for (const name of [column, quoteName(column)]) {
    const head = `\n\t${name} SYMBOL`;
    const [start, end] = [statement.indexOf(head), statement.indexOf(head) + head.length];
    if (start >= 0 && ' ,\n'.includes(statement.charAt(end)))
      return `${statement.slice(0, end)} CAPACITY ${capacity}${statement.slice(end)}`;
  }
  return statement;
}
