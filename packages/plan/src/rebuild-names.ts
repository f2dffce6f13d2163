/*! The temporary names of the tables of a rebuild: of the new table before the names are exchanged, of the old one after it. */

/** Creates the names for a rebuild. @param hash identifies the rebuild among those of the same table */
export const createRebuildNames = (table: string, hash: string) => ({
  newName: `${table}_new_${hash}`,
  oldName: `${table}_before_${hash}`,
});

/** Parses the name of a table of a rebuild; undefined for any other name. */
export function parseRebuildName(name: string): { table: string; role: 'new' | 'before'; hash: string } | undefined {
  const [, table, role, hash] = /^(.+)_(new|before)_([0-9a-f]{8})$/s.exec(name) ?? [];
  return table && hash ? { table, role: role as 'new' | 'before', hash } : undefined;
}

/** The table whose rebuild has made a table; undefined if none has. */
export const parseRebuiltTable = (name: string): string | undefined => parseRebuildName(name)?.table;
