/*! Offers of renames: what goes may be what comes under another name. */
import type { Column, Definition } from '@sqlpipe/ddl';
import { foldCase, isSameName } from '@sqlpipe/sql';
import type { Omission } from './draft.js';
import { formatPathForShell, type ObjectPath, printRename } from './object-path.js';
import type { Task } from './task.js';

/** Adds to an omission the renames that may be meant instead of what is lost. */
export function withOffers(omission: Omission, offers: RenameOffers): Omission {
  const dropped = (omission.losses ?? []).filter(({ loss }) => loss === 'drop');
  const renames = dropped.flatMap(
    ({ object, column }) => (column === undefined ? offers.ofTable(object) : offers.ofColumn(object, column)) ?? [],
  );
  return renames.length > 0 ? { ...omission, hints: renames.map(option => `renamed? ${option}`) } : omission;
}

/** Notes for the tables of B that are kept, although A may have them under another name. */
export const describeKeptTables = ({ a, b, requests, keepExtra }: Task, offers: RenameOffers): string[] =>
  b.entries.flatMap(({ kind, name }) => {
    const isKept =
      keepExtra && kind === 'table' && !a.findObject(name) && !requests.renames.objects.has(foldCase(name));
    const option = isKept ? offers.ofTable(name) : undefined;
    return option === undefined ? [] : [`table '${name}' is kept; renamed? ${option}`];
  });

/** Finds at most one rename for each column and table that goes, and never offers one new name twice. */
export class RenameOffers {
  readonly #offered = new Set<string>();

  constructor(private readonly task: Task) {}

  /** `--renamed trades.qty=quantity`, where a column of the same type comes; the one at the same place, or else the first. */
  ofColumn(table: string, column: string): string | undefined {
    const { a, before: b, requests } = this.task;
    const other = requests.renames.otherName(table) ?? table;
    const before = columnsOf(b.definitionOf(table) ?? b.definitionOf(other));
    const after = columnsOf(a.definitionOf(table) ?? a.definitionOf(other));
    const at = before.findIndex(({ name }) => isSameName(name, column));
    const renamed = [...requests.renames.columnsOf(table).values()];
    const isNew = ({ name, type }: Column): boolean =>
      type === before[at]?.type && ![...before.map(each => each.name), ...renamed].some(each => isSameName(each, name));
    const candidates = after.filter(each => isNew(each) && !this.#isOffered(table, each.name));
    const found = candidates.find(each => after.indexOf(each) === at) ?? candidates[0];
    return found && this.#offer(table, found.name, { object: table, column });
  }

  /** `--renamed trades_old=trades`, where a table with the same columns comes. */
  ofTable(table: string): string | undefined {
    const { a, before, requests } = this.task;
    const columns = columnKey(before.definitionOf(table));
    const newNames = [...requests.renames.objects.values()];
    const found = a.entries.find(
      ({ kind, name }) =>
        kind === 'table' &&
        !before.find(name) &&
        !newNames.some(each => isSameName(each, name)) &&
        columnKey(a.definitionOf(name)) === columns &&
        !this.#isOffered('', name),
    );
    return found && this.#offer('', found.name, { object: table });
  }

  #isOffered(table: string, name: string): boolean {
    return this.#offered.has(foldCase(`${table}\0${name}`));
  }

  #offer(table: string, name: string, from: ObjectPath): string {
    this.#offered.add(foldCase(`${table}\0${name}`));
    return `--renamed ${formatPathForShell(printRename(from, name))}`;
  }
}

const columnsOf = (definition: Definition | undefined): readonly Column[] =>
  definition?.kind === 'table' ? definition.columns : [];

/** The same for tables with the same columns. */
const columnKey = (definition: Definition | undefined): string =>
  columnsOf(definition)
    .map(({ name, type }) => `${foldCase(name)} ${type}`)
    .sort()
    .join('\0');
