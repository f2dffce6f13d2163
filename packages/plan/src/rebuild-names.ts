/*! The names of the tables of a rebuild. */

/** The temporary name of the new table, and the later name of the old one. The mark is that of one rebuild. */
export const rebuildNames = (table: string, mark: string) => ({
  newName: `${table}_new_${mark}`,
  oldName: `${table}_before_${mark}`,
});

/** Parses such a name. */
export function parseRebuildName(name: string): { table: string; role: 'new' | 'before'; mark: string } | undefined {
  const [, table, role, mark] = /^(.+)_(new|before)_([0-9a-f]{8})$/s.exec(name) ?? [];
  return table && mark ? { table, role: role as 'new' | 'before', mark } : undefined;
}

/** The table whose rebuild has made a table of this name. */
export const tableOfRebuild = (name: string): string | undefined => parseRebuildName(name)?.table;
