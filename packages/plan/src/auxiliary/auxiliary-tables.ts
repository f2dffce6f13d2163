import type { Schema } from '@sqlpipe/schema';
import type { NameSet } from '@sqlpipe/sql';
import { parseMark } from './marks.js';
import { parseRebuildName } from './rebuild-names.js';

/** Whether a plan has left a table: a mark, the new table of an interrupted rebuild, or the old table of one that `toRebuild` names. */
export function isAuxiliaryTable(
  name: string,
  { a, leftovers, toRebuild }: { readonly a: Schema; readonly leftovers: NameSet; readonly toRebuild: NameSet },
): boolean {
  if (a.findObject(name)) return false;
  const { table = '', role } = parseRebuildName(name) ?? {};
  const isOldTable = role === 'old' && toRebuild.has(table);
  return isOldTable || leftovers.has(name) || parseMark(name) !== undefined;
}
