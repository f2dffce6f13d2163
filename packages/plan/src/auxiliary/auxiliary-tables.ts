import type { Schema } from '@sqlpipe/schema';
import type { NameSet } from '@sqlpipe/sql';
import { parseMark } from './marks.js';
import { parseRebuildName } from './rebuild-names.js';

interface RebuildTables {
  readonly a: Schema;
  readonly halfExchanged: NameSet;
  readonly leftovers: NameSet;
  readonly toRebuild: NameSet;
}

/** Whether a plan has left a table: a mark, a table of an interrupted rebuild, or the old table of a table in `toRebuild`. */
export function isAuxiliaryTable(name: string, { a, halfExchanged, leftovers, toRebuild }: RebuildTables): boolean {
  if (a.findObject(name)) return false;
  const { table = '', role } = parseRebuildName(name) ?? {};
  const isOldTable = role === 'old' && toRebuild.has(table);
  return isOldTable || halfExchanged.has(table) || leftovers.has(name) || parseMark(name) !== undefined;
}
