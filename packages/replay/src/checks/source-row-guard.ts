/*!
 * A plan asserts that the query of a view returns all rows of the view. After an ALTER of a table that the query reads, this can no longer
 * be asked. So until the plan fills the view again, no partition of such a table may lose rows.
 */
import { type Client, fetchIds, tryIfAccepted } from '@sqlpipe/instance';
import { findPlannedObjects } from '@sqlpipe/plan/text';
import { identify, NameSet, quoteLiteral } from '@sqlpipe/sql';

export class SourceRowGuard {
  readonly #sources: { view: string; table: string; id: unknown; rows: ReadonlyMap<string, number> }[] = [];

  constructor(private readonly client: Client) {}

  /** Call it before the server evaluates the assertion. @param tables those that the view reads, also through other views */
  async recordAsserted(view: string, tables: readonly string[]): Promise<void> {
    const ids = await fetchIds(this.client, tables);
    for (const table of tables)
      this.#sources.push({ view, table, id: ids.get(table), rows: await this.#fetchRows(table) });
  }

  /** A sentence for each table that has lost rows, if the statement replaces it, or replaces or fills an asserted view that reads it. */
  async fetchConflicts(statement: string): Promise<string[]> {
    // An ALTER loses no rows of a view. And after a view is filled, an ALTER of the plan may expire rows of tables.
    if (identify(statement).verb === 'ALTER') return [];
    const changed = new NameSet(findPlannedObjects([statement]).map(({ name }) => name));
    const sources = this.#sources.filter(({ view, table }) => changed.has(view) || changed.has(table));
    if (sources.length === 0) return [];
    const tables = sources.map(({ table }) => table);
    const ids = await fetchIds(this.client, tables);
    const conflicts: string[] = [];
    for (const { view, table, id, rows } of sources) {
      if (ids.get(table) !== id) continue; // the plan has renamed or replaced it
      const existing = await this.#fetchRows(table);
      if ([...rows].some(([partition, count]) => (existing.get(partition) ?? 0) < count))
        conflicts.push(
          `rows of table '${table}' were removed while the plan was applied, so rows of materialized view '${view}' cannot be computed again`,
        );
    }
    return conflicts;
  }

  /** The number of rows of each partition. A split partition counts as one: its parts have longer names, and come after it. */
  async #fetchRows(table: string): Promise<Map<string, number>> {
    const query = `SELECT name, numRows FROM table_partitions(${quoteLiteral(table)}) WHERE attached`;
    const rows = new Map<string, number>();
    let partition = '\0';
    for (const [name, count] of (await tryIfAccepted(this.client.queryRows(query))) ?? []) {
      if (!String(name).startsWith(partition)) partition = String(name);
      rows.set(partition, (rows.get(partition) ?? 0) + Number(count));
    }
    return rows;
  }
}
