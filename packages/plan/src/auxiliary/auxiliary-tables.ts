import type { NameSet } from '@sqlpipe/sql';
import { type MarkLookup, parseMark } from './marks.js';
import { parseRebuildName } from './rebuild-names.js';

interface AuxiliaryTables extends MarkLookup {
  readonly betweenRenames: NameSet;
  readonly leftovers: NameSet;
  readonly toRebuild: NameSet;
}

/** Whether a plan has left a table: a mark, a table of an interrupted rebuild, or the old table of a table in `toRebuild`. */
export function isAuxiliaryTable(name: string, tables: AuxiliaryTables): boolean {
  const { a, betweenRenames, leftovers, toRebuild } = tables;
  if (a.findObject(name)) return false;
  const { table = '', role } = parseRebuildName(name) ?? {};
  const isOldTable = role === 'old' && toRebuild.has(table);
  return isOldTable || betweenRenames.has(table) || leftovers.has(name) || parseMark(name, tables) !== undefined;
}
