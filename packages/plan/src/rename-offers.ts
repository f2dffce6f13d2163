/*! Offers renames. If a column or table is dropped and a similar one is created, the user may have renamed it. */
import type { Column, Definition } from '@sqlpipe/ddl';
import { foldCase, isSameName } from '@sqlpipe/sql';
import { isAuxiliaryTable } from './auxiliary/auxiliary-tables.js';
import { parseRebuildName } from './auxiliary/rebuild-names.js';
import type { PlanContext } from './context/plan-context.js';
import { formatPathForShell, formatRename, type ObjectPath, pathKey } from './losses/object-path.js';
import type { Omission } from './losses/omission.js';

export function addOffers(omission: Omission, offers: RenameOffers): Omission {
  const dropped = omission.losses.filter(({ lossKind }) => lossKind === 'drop');
  const renames = dropped.flatMap(
    ({ object, column }) =>
      (column === undefined ? offers.offerTable(object) : offers.offerColumn(object, column)) ?? [],
  );
  return { ...omission, hints: [...omission.hints, ...renames.map(option => `renamed? ${option}`)] };
}

export const formatKeptTables = (context: PlanContext, offers: RenameOffers): string[] =>
  context.b.entries.flatMap(({ kind, name }) => {
    const { a, renames, ignoreExtra, dropOld } = context;
    if (kind !== 'table' || a.findObject(name) || renames.pending.has(name)) return [];
    if (context.betweenRenames.has(parseRebuildName(name)?.table ?? '')) return [];
    if (!dropOld && isAuxiliaryTable(name, context) && parseRebuildName(name)?.role === 'old')
      return [`table '${name}' is kept: it is the old table of a rebuild; --drop-old drops it`];
    const option = ignoreExtra ? offers.offerTable(name) : undefined;
    return option === undefined ? [] : [`table '${name}' is kept; renamed? ${option}`];
  });

/** No new name is offered twice. */
export class RenameOffers {
  readonly #offered = new Set<string>();

  constructor(private readonly context: PlanContext) {}

  /** Offers a new column of the same type, preferably that in the same place. */
  offerColumn(table: string, column: string): string | undefined {
    const { a, engineOfB, renames } = this.context;
    const other = renames.otherName(table) ?? table;
    const former = columnsOf(engineOfB.definitionOf(table) ?? engineOfB.definitionOf(other));
    const wanted = columnsOf(a.definitionOf(table) ?? a.definitionOf(other));
    const index = former.findIndex(({ name }) => isSameName(name, column));
    const renamed = [...renames.columnRenamesOf(table).values()];
    const usedNames = [...former.map(({ name }) => name), ...renamed];
    const isNew = ({ name, type }: Column): boolean =>
      type === former[index]?.type && !usedNames.some(usedName => isSameName(usedName, name));
    const isOffered = ({ name }: Column) => this.#offered.has(pathKey({ object: table, column: name }));
    const candidates = wanted.filter(candidate => isNew(candidate) && !isOffered(candidate));
    const chosen = candidates.find(candidate => wanted.indexOf(candidate) === index) ?? candidates[0];
    return chosen && this.#offer({ object: table, column }, chosen.name);
  }

  /** Offers a new table with the same columns. */
  offerTable(table: string): string | undefined {
    const { a, engineOfB, renames } = this.context;
    const columns = columnKey(engineOfB.definitionOf(table));
    const newNames = [...renames.pending.values()];
    const chosen = a.entries.find(
      ({ kind, name }) =>
        kind === 'table' &&
        !engineOfB.find(name) &&
        !newNames.some(newName => isSameName(newName, name)) &&
        columnKey(a.definitionOf(name)) === columns &&
        !this.#offered.has(pathKey({ object: name })),
    );
    return chosen && this.#offer({ object: table }, chosen.name);
  }

  #offer(from: ObjectPath, name: string): string {
    this.#offered.add(pathKey(from.column === undefined ? { object: name } : { ...from, column: name }));
    return `--renamed ${formatPathForShell(formatRename(from, name))}`;
  }
}

const columnsOf = (definition: Definition | undefined): readonly Column[] =>
  definition?.kind === 'table' ? definition.columns : [];

const columnKey = (definition: Definition | undefined): string =>
  columnsOf(definition)
    .map(({ name, type }) => `${foldCase(name)} ${type}`)
    .sort()
    .join('\0');
