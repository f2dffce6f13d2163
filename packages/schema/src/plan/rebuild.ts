/*! Recreates a table if no ALTER can change what differs. As documented by QuestDB, the old table is kept. */
import { createHash } from 'node:crypto';
import { findColumn, printDefinition, type TableDefinition } from '@sqlpipe/ddl';
import { foldCase } from '@sqlpipe/sql';

/** The statements of a rebuild. */
export interface Rebuild {
  readonly statements: readonly string[];
  /** The name of the old table after the rebuild. */
  readonly oldName: string;
}

/** Parses `TABLE_new_MARK` or `TABLE_before_MARK`; the mark is the same for all names of one rebuild. */
export function parseRebuildName(name: string): { table: string; role: 'new' | 'before'; mark: string } | undefined {
  const [, table, role, mark] = /^(.+)_(new|before)_([0-9a-f]{8})$/s.exec(name) ?? [];
  return table && mark ? { table, role: role as 'new' | 'before', mark } : undefined;
}

/**
 * Creates a new table under a temporary name, copies the rows of the old table, and exchanges the names if both tables have
 * the same number of rows.
 * @param renamed the new names of columns by their old names
 */
export function rebuildTable(
  wanted: TableDefinition,
  now: TableDefinition,
  renamed: ReadonlyMap<string, string>,
  dropOld: boolean,
): Rebuild {
  const mark = createHash('sha256')
    .update(printDefinition(wanted))
    .update(printDefinition(now))
    .digest('hex')
    .slice(0, 8);
  const [newName, oldName] = [`${now.name}_new_${mark}`, `${now.name}_before_${mark}`];
  const sources = new Map([...renamed].map(([from, to]) => [foldCase(to), from]));
  const copied = wanted.columns.flatMap(column => {
    const from = sources.get(foldCase(column.name)) ?? column.name;
    const source = findColumn(now, from);
    return source ? [{ column, source }] : [];
  });
  const targets = copied.map(({ column }) => quote(column.name)).join(', ');
  const values = copied
    .map(({ column, source }) =>
      column.type === source.type ? quote(source.name) : `CAST(${quote(source.name)} AS ${column.type})`,
    )
    .join(', ');
  return {
    oldName,
    statements: [
      printDefinition({ ...wanted, name: newName }, { quoted: true }),
      `INSERT INTO '${newName}' (${targets}) SELECT ${values} FROM '${now.name}';`,
      `SELECT a.n = b.n AS as_many_rows FROM (SELECT count() n FROM '${now.name}') a CROSS JOIN (SELECT count() n FROM '${newName}') b;`,
      `RENAME TABLE '${now.name}' TO '${oldName}';`,
      `RENAME TABLE '${newName}' TO '${now.name}';`,
      ...(dropOld ? [`DROP TABLE '${oldName}';`] : []),
    ],
  };
}

const quote = (name: string): string => `"${name}"`;
