/*! A table that is made anew, as what differs can not be altered: the documented way, with the old table kept. */
import { createHash } from 'node:crypto';
import { printDefinition, type TableDefinition } from '@sqlpipe/ddl';
import { foldCase } from '@sqlpipe/sql';

/** The statements of a rebuild. */
export interface Rebuild {
  readonly statements: readonly string[];
  /** What the old table is called afterwards. */
  readonly oldName: string;
}

/**
 * A new table under another name, filled from the old one, put in its place when both have as many rows.
 * @param renamed old names of columns to new ones
 */
export function rebuildTable(
  wanted: TableDefinition,
  now: TableDefinition,
  renamed: ReadonlyMap<string, string>,
  dropOld: boolean,
): Rebuild {
  const mark = createHash('sha256').update(printDefinition(wanted)).update(printDefinition(now)).digest('hex').slice(0, 8);
  const [newName, oldName] = [`${now.name}_new_${mark}`, `${now.name}_before_${mark}`];
  const sources = new Map([...renamed].map(([from, to]) => [foldCase(to), from]));
  const copied = wanted.columns.flatMap(column => {
    const from = sources.get(foldCase(column.name)) ?? column.name;
    const source = now.columns.find(({ name }) => foldCase(name) === foldCase(from));
    return source ? [{ column, source }] : [];
  });
  const targets = copied.map(({ column }) => quote(column.name)).join(', ');
  const values = copied
    .map(({ column, source }) => (column.type === source.type ? quote(source.name) : `CAST(${quote(source.name)} AS ${column.type})`))
    .join(', ');
  return {
    oldName,
    statements: [
      printDefinition({ ...wanted, name: newName }, { quoted: true }),
      `INSERT INTO '${newName}' (${targets}) SELECT ${values} FROM '${now.name}';`,
      `SELECT count() = (SELECT count() FROM '${now.name}') AS as_many_rows FROM '${newName}';`,
      `RENAME TABLE '${now.name}' TO '${oldName}';`,
      `RENAME TABLE '${newName}' TO '${now.name}';`,
      ...(dropOld ? [`DROP TABLE '${oldName}';`] : []),
    ],
  };
}

const quote = (name: string): string => `"${name}"`;
