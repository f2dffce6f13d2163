/*!
 * Symbol capacities, which servers from 9.3 on do not print, but show in table_columns(). A server raises a capacity by
 * itself when it is nearly used up, so it is a part of the schema only as long as it is larger than the symbols need:
 * then somebody requested it (observed on 9.3.4).
 */
import { quoteName } from '@sqlpipe/ddl';
import { quoteLiteral } from '@sqlpipe/sql';
import { ifAccepted } from './best-effort-client.js';
import { fetchParameters } from './inspect.js';
import type { Instance } from './instance.js';
import { InstanceError } from './instance-error.js';
import { DEFAULT_REQUEST_BUFFER } from './request.js';

/** The server rejects 130 and more queries in one request with `SQL model is too complex` (observed on 9.3.4). */
const MAX_PER_REQUEST = 100;

/** Matches the name of a table, as servers print it. */
const TABLE = /^CREATE TABLE '([^']+)' \( \n/;

/** Matches a symbol without its capacity; perhaps also what looks like one. */
const WITHOUT_CAPACITY = / SYMBOL(?:[,\n]| (?!CAPACITY))/;

/** What an instance does if a statement states no capacity. */
interface Settings {
  readonly capacity: number;
  /** The part of a capacity that may be used before it is doubled; infinite if it never is. */
  readonly threshold: number;
}

/** A column whose capacity is not the usual one. */
type CapacityRow = [table: number, column: string, capacity: number, used: number];

/** Queries an instance; undefined if it does not answer. */
type Attempt = <T>(use: (instance: Instance) => Promise<T>) => Promise<T | undefined>;

/** Adds symbol capacities to statements; leaves them as they are if the instance does not show them. */
export class SymbolCapacities {
  readonly #attempt: Attempt;
  #isShown = true;
  #settings: Settings | undefined;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  /** The capacities that an instance shows. */
  static of(instance: Instance): SymbolCapacities {
    return new SymbolCapacities(use => ifAccepted(() => use(instance)));
  }

  /** The statements, with the capacities that were requested for the symbols of their tables. */
  async addTo(statements: string[]): Promise<string[]> {
    const tables = this.#isShown ? statements.flatMap(findTableWithSymbol) : [];
    if (!tables.length) return statements;
    const complete = [...statements];
    for (let start = 0; start < tables.length && this.#isShown; start += MAX_PER_REQUEST) {
      const batch = tables.slice(start, start + MAX_PER_REQUEST);
      const names = batch.map(({ name }) => name);
      const rows = await this.#attempt(instance => fetchCapacities(instance, names));
      if (!rows) this.#isShown = false;
      for (const [table, column, capacity, used] of rows ?? []) {
        const index = batch[table]?.index ?? -1;
        const statement = complete[index];
        if (statement !== undefined && (await this.#isRequested(capacity, used)))
          complete[index] = addCapacity(statement, column, capacity);
      }
    }
    return complete;
  }

  async #isRequested(capacity: number, used: number): Promise<boolean> {
    this.#settings ??= await this.#fetchSettings();
    const { capacity: usual, threshold } = this.#settings;
    return capacity > usual && used <= (capacity / 2) * threshold;
  }

  async #fetchSettings(): Promise<Settings> {
    const parameters = await this.#attempt(fetchParameters);
    const number = (path: string, otherwise: number) => Number(parameters?.get(path)) || otherwise;
    return {
      capacity: number('cairo.default.symbol.capacity', USUAL_SYMBOL_CAPACITY),
      threshold:
        parameters?.get('cairo.auto.scale.symbol.capacity') === 'false'
          ? Number.POSITIVE_INFINITY
          : number('cairo.auto.scale.symbol.capacity.threshold', 0.8),
    };
  }
}

/** The capacity of a server without configuration. Only larger ones are added. */
export const USUAL_SYMBOL_CAPACITY = 256;

function findTableWithSymbol(statement: string, index: number): { name: string; index: number }[] {
  const [, name] = WITHOUT_CAPACITY.test(statement) ? (TABLE.exec(statement) ?? []) : [];
  return name === undefined ? [] : [{ name, index }];
}

/** The columns with a larger capacity than usual. A table that was dropped meanwhile has none. */
async function fetchCapacities(instance: Instance, tables: readonly string[], first = 0): Promise<CapacityRow[]> {
  const query = tables
    .map(
      (name, i) =>
        `SELECT ${first + i}, "column", symbolCapacity, symbolTableSize FROM table_columns(${quoteLiteral(name)}) WHERE symbolCapacity > ${USUAL_SYMBOL_CAPACITY}`,
    )
    .join(' UNION ALL ');
  const fetchHalves = async () => {
    const half = Math.ceil(tables.length / 2);
    return [
      ...(await fetchCapacities(instance, tables.slice(0, half), first)),
      ...(await fetchCapacities(instance, tables.slice(half), first + half)),
    ];
  };
  if (tables.length > 1 && instance.bufferNeeded(query) > DEFAULT_REQUEST_BUFFER) return fetchHalves();
  try {
    const rows = await instance.table(query);
    return rows.map(([table, column, capacity, used]) => [
      Number(table),
      String(column),
      Number(capacity),
      Number(used),
    ]);
  } catch (error) {
    const isGone = error instanceof InstanceError && error.says(/does not exist/);
    if (!isGone) throw error;
    return tables.length > 1 ? fetchHalves() : [];
  }
}

/** The statement of a table with the capacity of one of its symbols, in the place where servers before 9.3 print it. */
function addCapacity(statement: string, column: string, capacity: number): string {
  for (const name of [column, quoteName(column)]) {
    const head = `\n\t${name} SYMBOL`;
    const at = statement.indexOf(head) + head.length;
    if (at >= head.length && ' ,\n'.includes(statement.charAt(at)))
      return `${statement.slice(0, at)} CAPACITY ${capacity}${statement.slice(at)}`;
  }
  return statement;
}
