/*! The temporary names of the tables of a rebuild: of the new table before the names are exchanged, of the old one after it. */

/** The names for a rebuild. @param mark identifies the rebuild among those of the same table */
export const rebuildNames = (table: string, mark: string) => ({
  newName: `${table}_new_${mark}`,
  oldName: `${table}_before_${mark}`,
});

/** Parses the name of a table of a rebuild; undefined for any other name. */
export function parseRebuildName(name: string): { table: string; role: 'new' | 'before'; mark: string } | undefined {
  const [, table, role, mark] = /^(.+)_(new|before)_([0-9a-f]{8})$/s.exec(name) ?? [];
  return table && mark ? { table, role: role as 'new' | 'before', mark } : undefined;
}

/** The table whose rebuild has made a table; undefined if none has. */
export const tableOfRebuild = (name: string): string | undefined => parseRebuildName(name)?.table;
