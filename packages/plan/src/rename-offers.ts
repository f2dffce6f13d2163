/*! Offers renames. If a column or table is dropped and a similar one is created, the user may have renamed it. */
import type { Column, Definition } from '@sqlpipe/ddl';
import { addToList, foldCase, isSameName, NameSet } from '@sqlpipe/sql';
import type { Schemas } from './context/plan-context.js';
import { formatPathForShell, formatRename, type ObjectPath, pathKey } from './losses/object-path.js';

/** The new names that can be offered. No name is offered twice. */
export class RenameOffers {
  /** The names of the new tables, by `columnKey`. */
  readonly #newTables = new Map<string, string[]>();
  readonly #offeredColumns = new Set<string>();

  constructor(private readonly schemas: Schemas) {
    const { a, engineOfB, renames } = schemas;
    const renamed = new NameSet(renames.pending.values());
    for (const entry of a.entries) {
      const { kind, name } = entry;
      const isNew = kind === 'table' && a.findObject(name) === entry && !engineOfB.find(name) && !renamed.has(name);
      if (isNew) addToList(this.#newTables, columnKey(a.definitionOf(entry)), name);
    }
  }

  /** Takes a new name for a dropped table or column, and formats the offer; undefined if no new one is similar. */
  takeOffer(dropped: ObjectPath): string | undefined {
    const name = dropped.column === undefined ? this.#takeTable(dropped.object) : this.#takeColumn(dropped);
    return name && `renamed? --renamed ${formatPathForShell(formatRename(dropped, name))}`;
  }

  /** Takes a new table with the same columns. */
  #takeTable(table: string): string | undefined {
    return this.#newTables.get(columnKey(this.schemas.engineOfB.definitionOf(table)))?.shift();
  }

  /** Takes a new column of the same type, preferably that in the same place. */
  #takeColumn({ object: table, column }: ObjectPath): string | undefined {
    const { a, engineOfB, renames } = this.schemas;
    const other = renames.otherName(table) ?? table;
    const former = columnsOf(engineOfB.definitionOf(table) ?? engineOfB.definitionOf(other));
    const wanted = columnsOf(a.definitionOf(table) ?? a.definitionOf(other));
    const index = former.findIndex(({ name }) => isSameName(name, column));
    const usedNames = new NameSet([...former.map(({ name }) => name), ...renames.columnRenamesOf(table).values()]);
    const keyOf = ({ name }: Column) => pathKey({ object: table, column: name });
    const candidates = wanted.filter(
      each => each.type === former[index]?.type && !usedNames.has(each.name) && !this.#offeredColumns.has(keyOf(each)),
    );
    const chosen = candidates.find(candidate => wanted.indexOf(candidate) === index) ?? candidates[0];
    if (chosen) this.#offeredColumns.add(keyOf(chosen));
    return chosen?.name;
  }
}

const columnsOf = (definition: Definition | undefined): readonly Column[] =>
  definition?.kind === 'table' ? definition.columns : [];

const columnKey = (definition: Definition | undefined): string =>
  columnsOf(definition)
    .map(({ name, type }) => `${foldCase(name)} ${type}`)
    .sort()
    .join('\0');
