/*!
 * Which old name becomes which new name. `read-renames.ts` finds the renames that the user states. The planner guesses none, because a
 * wrong guess could lose data. A rename is pending until a plan has made it.
 */
import { isSameName, NameMap } from '@sqlpipe/sql';
import type { ObjectPath } from '../losses/losses.js';

export class Renames {
  /** The pending renames of objects: the new name by the old name. */
  readonly pending = new NameMap<string>();
  /** `pending`, and the renames that an earlier plan has made or begun. */
  readonly objects = new NameMap<string>();
  /** For each table of A, the column renames that are pending, or that an unfinished rebuild has made: the new name by the old name. */
  readonly #columns = new NameMap<Map<string, string>>();
  /** Column renames that an earlier plan has made. They are kept because the user may still write either name. `table` is a name in B. */
  readonly #madeColumns: { readonly table: string; readonly names: readonly [string, string] }[] = [];
  /** The stated renames of objects, pending or not: the new name by the old name. */
  readonly statedObjects = new Map<string, string>();
  /** The stated renames of columns. `table` is a name in A or B. An option that may mean several tables has an entry for each. */
  readonly #statedColumns: { readonly table: string; readonly from: string; readonly to: string }[] = [];

  addColumn(table: string, from: string, to: string): void {
    this.#columns.set(table, new Map(this.columnRenamesOf(table)).set(from, to));
  }

  addMadeColumn(table: string, ...names: [from: string, to: string]): void {
    this.#madeColumns.push({ table, names });
  }

  addStatedColumn(table: string, from: string, to: string): void {
    this.#statedColumns.push({ table, from, to });
  }

  /** Finds the new name by the old name of an object, or the old name by the new name. Undefined if it is not renamed. */
  otherName(name: string): string | undefined {
    return this.objects.get(name) ?? [...this.objects].find(([, to]) => isSameName(to, name))?.[0];
  }

  nameAfterPlan(name: string): string {
    return this.pending.get(name) ?? name;
  }

  /** The old name if the plan renames the object; otherwise the given name. */
  nameBeforePlan(name: string): string {
    return [...this.pending].find(([, to]) => isSameName(to, name))?.[0] ?? name;
  }

  /** The old name of a column if a plan or a rebuild renames it; otherwise the given name. @param table the table's name in A */
  columnBeforePlan(table: string, column: string): string {
    return [...this.columnRenamesOf(table)].find(([, to]) => isSameName(to, column))?.[0] ?? column;
  }

  /** The new name of a column if a plan or a rebuild renames it; otherwise the given name. @param table the table's name in A */
  columnAfterPlan(table: string, column: string): string {
    return [...this.columnRenamesOf(table)].find(([from]) => isSameName(from, column))?.[1] ?? column;
  }

  /** The paths by which a user may name an object or a column: with the old and the new names. */
  findPaths({ object, column }: ObjectPath): ObjectPath[] {
    const objects = [object, this.otherName(object) ?? object];
    const columnRenames = objects.flatMap(name => [...this.columnRenamesOf(name)]);
    const made = this.#madeColumns.filter(({ table }) => objects.some(name => isSameName(name, table)));
    const all = [...columnRenames, ...made.map(({ names }) => names)];
    const columns = [column, ...all.filter(names => names.some(name => isSameName(name, column))).flat()];
    return objects.flatMap(name => columns.map(each => ({ object: name, column: each })));
  }

  pathBeforePlan({ object, column }: ObjectPath): ObjectPath {
    return { object: this.nameBeforePlan(object), column: column && this.columnBeforePlan(object, column) };
  }

  /** The stated renames of the columns of a table, old name first. @param table its name in A or B */
  statedColumnsOf(table: string): (readonly [from: string, to: string])[] {
    const names = [table, this.otherName(table)];
    const stated = this.#statedColumns.filter(column => names.some(name => isSameName(name, column.table)));
    return stated.map(({ from, to }) => [from, to]);
  }

  /** The stated renames of objects and of columns in one map, because a name in a query may mean an object or a column. */
  statedNames(tables: Iterable<string>): NameMap<string> {
    return new NameMap([...[...tables].flatMap(table => this.statedColumnsOf(table)), ...this.statedObjects]);
  }

  /** @param table the table's name in A */
  columnRenamesOf(table: string): ReadonlyMap<string, string> {
    return this.#columns.get(table) ?? new Map();
  }
}
