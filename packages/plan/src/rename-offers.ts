/*! Offers renames. If a column or table is dropped and a similar one is created, the user may have renamed it. */
import type { Column, Definition } from '@sqlpipe/ddl';
import { addToList, foldCase, isSameName, NameSet } from '@sqlpipe/sql';
import type { Schemas } from './context/plan-context.js';
import { formatPathForShell, formatRename, type ObjectPath, pathKey } from './losses/losses.js';

/** Takes a new name for a dropped table or column, and formats the offer; undefined if no new one is similar. */
export type TakeOffer = (dropped: ObjectPath) => string | undefined;

/** The function offers no name twice. */
export function createRenameOffers({ a, engineOfB, renames }: Schemas): TakeOffer {
  const renamed = new NameSet(renames.pending.values());
  /** The names of the new tables, by `columnKey`. */
  const newTables = new Map<string, string[]>();
  for (const entry of a.entries) {
    const { kind, name } = entry;
    const isNew = kind === 'table' && a.findObject(name) === entry && !engineOfB.find(name) && !renamed.has(name);
    if (isNew) addToList(newTables, columnKey(a.definitionOf(entry)), name);
  }
  const offeredColumns = new Set<string>();

  /** Takes a new column of the same type, preferably that in the same place. */
  const takeColumn = ({ object: table, column }: ObjectPath): string | undefined => {
    const other = renames.otherName(table) ?? table;
    const former = columnsOf(engineOfB.definitionOf(table) ?? engineOfB.definitionOf(other));
    const wanted = columnsOf(a.definitionOf(table) ?? a.definitionOf(other));
    const index = former.findIndex(({ name }) => isSameName(name, column));
    const usedNames = new NameSet([...former.map(({ name }) => name), ...renames.columnRenamesOf(table).values()]);
    const keyOf = ({ name }: Column) => pathKey({ object: table, column: name });
    const candidates = wanted.filter(
      each => each.type === former[index]?.type && !usedNames.has(each.name) && !offeredColumns.has(keyOf(each)),
    );
    const chosen = candidates.find(candidate => wanted.indexOf(candidate) === index) ?? candidates[0];
    if (chosen) offeredColumns.add(keyOf(chosen));
    return chosen?.name;
  };

  return dropped => {
    const { object, column } = dropped;
    // A new table must have the same columns.
    const name =
      column === undefined ? newTables.get(columnKey(engineOfB.definitionOf(object)))?.shift() : takeColumn(dropped);
    return name && `renamed? --renamed ${formatPathForShell(formatRename(dropped, name))}`;
  };
}

const columnsOf = (definition: Definition | undefined): readonly Column[] =>
  definition?.kind === 'table' ? definition.columns : [];

const columnKey = (definition: Definition | undefined): string =>
  columnsOf(definition)
    .map(({ name, type }) => `${foldCase(name)} ${type}`)
    .sort()
    .join('\0');
