/*!
 * Which old name becomes which new name: finds the renames that the user states, by `--renamed` or by comments in A, and compares them with
 * A and B. The planner guesses none, because a wrong guess could lose data. A rename is pending until a plan has made it.
 */
import { findColumn, locateColumns, type TableDefinition } from '@sqlpipe/ddl';
import type { Engine } from '@sqlpipe/engine';
import { type Entry, type IgnoreRules, InvalidOptionError, type Schema } from '@sqlpipe/schema';
import {
  displayName,
  isObjectKind,
  isSameName,
  NameMap,
  NameSet,
  significantTokens,
  tokens,
  unquote,
} from '@sqlpipe/sql';
import { formatSuggestion } from '@sqlpipe/text';
import { findRebuildTables } from './auxiliary.js';
import { findPossiblePaths, formatPath, type ObjectPath, resolvePath, splitRename } from './losses.js';

export class Renames {
  /** The pending renames of objects: the new name by the old name. */
  readonly pending = new NameMap<string>();
  /** `pending`, and the renames that an earlier plan has made or begun. */
  readonly objects = new NameMap<string>();
  /** For each table of A, the column renames that are pending, or that an unfinished rebuild has made: the new name by the old name. */
  readonly #columns = new NameMap<NameMap<string>>();
  /** Column renames that an earlier plan has made. They are kept because the user may still write either name. `table` is a name in B. */
  readonly #madeColumns: ColumnRename[] = [];
  /** The stated renames of objects, pending or not: the new name by the old name. */
  readonly statedObjects = new Map<string, string>();
  /** The stated renames of columns. `table` is a name in A or B. An option that may mean several tables has an entry for each. */
  readonly #statedColumns: ColumnRename[] = [];
  readonly notes: string[] = [];
  /** Warnings about rename comments that have no effect. */
  readonly warnings: string[] = [];
  /** Why objects are left out: their rename comments contradict A or B. Both the old and the new name of an object are keys. */
  readonly contradictions = new NameMap<string>();
  readonly #rebuilt: ReturnType<typeof findRebuildTables>;

  /**
   * @param b used for principals only, because `engineOfB` has the objects of B
   * @param renamed renames as `OLD=NEW`, which take precedence over comments
   * @throws InvalidOptionError if a rename in `renamed` is malformed, matches nothing, is ambiguous, or contradicts A or B
   */
  constructor(
    private readonly a: Schema,
    private readonly b: Schema,
    private readonly engineOfB: Engine,
    private readonly ignore: IgnoreRules,
    renamed: readonly string[] = [],
  ) {
    this.#rebuilt = findRebuildTables(engineOfB, 'old');
    this.#readOptions(renamed);
    const comments = a.entries
      .filter(({ kind }) => isObjectKind(kind))
      .flatMap(entry => parseRenameComments(entry.statement).map(comment => ({ entry, ...comment })));
    for (const comment of comments) if (comment.column === undefined) this.#readObjectComment(comment, comments);
    for (const comment of comments) if (comment.column !== undefined) this.#readColumnComment(comment, comments);
  }

  /** Finds the new name by the old name of an object, or the old name by the new name. Undefined if it is not renamed. */
  otherName(name: string): string | undefined {
    return this.objects.get(name) ?? findOldName(this.objects, name);
  }

  nameAfterPlan(name: string): string {
    return this.pending.get(name) ?? name;
  }

  /** The old name if the plan renames the object; otherwise the given name. */
  nameBeforePlan(name: string): string {
    return findOldName(this.pending, name) ?? name;
  }

  /** The old name of a column if a plan or a rebuild renames it; otherwise the given name. @param table the table's name in A */
  columnBeforePlan(table: string, column: string): string {
    return findOldName(this.columnRenamesOf(table), column) ?? column;
  }

  /** The paths by which a user may name an object or a column: with the old and the new names. */
  findPaths({ object, column }: ObjectPath): ObjectPath[] {
    const objects = [object, this.otherName(object) ?? object];
    const pending = objects.flatMap(name => [...this.columnRenamesOf(name)]);
    const all = [...pending, ...renamesIn(objects, this.#madeColumns)];
    const columns = [column, ...all.filter(names => names.some(name => isSameName(name, column))).flat()];
    return objects.flatMap(name => columns.map(each => ({ object: name, column: each })));
  }

  pathBeforePlan({ object, column }: ObjectPath): ObjectPath {
    return { object: this.nameBeforePlan(object), column: column && this.columnBeforePlan(object, column) };
  }

  /** The stated renames of the columns of a table, old name first. @param table its name in A or B */
  statedColumnsOf(table: string): (readonly [from: string, to: string])[] {
    return renamesIn([table, this.otherName(table)], this.#statedColumns);
  }

  /** The stated renames of objects and of columns in one map, because a name in a query may mean an object or a column. */
  statedNames(tables: Iterable<string>): NameMap<string> {
    return new NameMap([...[...tables].flatMap(table => this.statedColumnsOf(table)), ...this.statedObjects]);
  }

  /** @param table the table's name in A */
  columnRenamesOf(table: string): NameMap<string> {
    return this.#columns.get(table) ?? new NameMap();
  }

  #addColumnRename(table: string, from: string, to: string): void {
    this.#columns.set(table, new NameMap(this.columnRenamesOf(table)).set(from, to));
  }

  /** Finds the columns that a table has in A or in B. Empty for a view or a principal; undefined if nothing has this old or new name. */
  readonly findColumns = (name: string): NameSet | undefined => {
    const { a, b, engineOfB } = this;
    const names = [name, this.otherName(name) ?? name];
    const objects = names.flatMap(each => engineOfB.find(each) ?? a.findObject(each) ?? []);
    if (objects.length === 0 && !names.some(each => a.findPrincipal(each) ?? b.findPrincipal(each))) return undefined;
    const tables = names.flatMap(each => [findTable(engineOfB, each), findTable(a, each)]);
    return new NameSet(tables.flatMap(table => table?.columns.map(column => column.name) ?? []));
  };

  /** Reads renames of objects before renames of columns: in `--renamed t.x=y`, `t` may be the old or the new name of the table. */
  #readOptions(renames: readonly string[]): void {
    const columnRenames: [rename: string, from: string, to: string][] = [];
    for (const rename of renames) {
      const [from, to] = splitRename(rename);
      // A lacks the objects that `--ignore` excludes. If an earlier plan has renamed such an object, only B has the new name.
      const find = (object: string) => this.a.findObject(object) ?? this.engineOfB.find(object);
      const name = resolvePath(to, object => (find(object) ? new NameSet() : undefined))?.object;
      if (name === undefined || resolvePath(from, this.findColumns)?.column !== undefined)
        columnRenames.push([rename, from, to]);
      else this.#readObjectRename(rename, resolvePath(from, this.findColumns)?.object ?? unquote(from), name);
    }
    for (const columnRename of columnRenames) this.#readColumnRename(...columnRename);
  }

  #readObjectRename(rename: string, from: string, to: string): void {
    if (isSameName(from, to)) throw renameError(rename, SAME_NAME);
    const [former, wanted] = [this.engineOfB.find(from), this.a.findObject(to)];
    if (!former && !wanted && this.engineOfB.find(to)) return this.#reportMade(rename);
    if (!wanted) throw renameError(rename, `A has no '${to}'`);
    if (former && former.kind !== wanted.kind && [former.kind, wanted.kind].includes('table'))
      throw renameError(rename, `B has ${displayName(former)}, A has ${displayName(wanted)}`);
    rejectSharedName(rename, from, wanted.name, this.objects);
    this.objects.set(from, wanted.name);
    this.statedObjects.set(from, wanted.name);
    const isMade = this.engineOfB.find(to) !== undefined || this.#findOldTables(to).length > 0;
    if (!former && isMade) return this.#reportMade(rename);
    // A plan renames a view by DROP and CREATE. If an earlier plan was interrupted after the DROP, B has neither name.
    if (!former && wanted.kind !== 'table')
      return void this.notes.push(`--renamed ${rename}: B has neither name; '${to}' is created`);
    if (!former) throw renameError(rename, `B has no '${from}'${this.#suggestObject(from)}`);
    if (this.a.findObject(from)) throw renameError(rename, `A has a '${from}' too`);
    if (this.engineOfB.find(to)) throw renameError(rename, `B has a '${to}' too`);
    this.pending.set(former.name, wanted.name);
  }

  #readColumnRename(rename: string, from: string, to: string): void {
    const newColumn = resolvePath(to, this.findColumns)?.column ?? unquote(to);
    const oldPaths = findPossiblePaths(from).filter(path => path.column !== undefined);
    for (const { object, column = '' } of oldPaths)
      this.#statedColumns.push({ table: object, from: column, to: newColumn });
    const { object: oldTable = '', column: oldColumn = '' } = resolvePath(from, this.findColumns) ?? {};
    const object = oldColumn === '' ? this.engineOfB.find(oldTable) : undefined;
    if (object) {
      const names = this.a.entries.filter(({ kind }) => isObjectKind(kind)).map(({ name }) => name);
      const isIgnored = this.ignore.ignoresObject({ ...object, name: newColumn });
      const missing = `A has no '${newColumn}'${formatSuggestion(newColumn, names)}`;
      throw renameError(rename, isIgnored ? formatIgnoredObject(newColumn) : missing);
    }
    const former = this.#findTableOfB(oldTable);
    const source = former && findColumn(former, oldColumn);
    // B lacks the old column. Has an earlier plan, or a rebuild, already made the rename?
    if (!source) {
      const tables = oldPaths.flatMap(({ object }) => this.#findTableOfB(object) ?? []);
      const isMadeByRebuild = oldPaths.some(path => this.#addRenameMadeByRebuild(path, newColumn));
      const renamed = tables.filter(table => findColumn(table, newColumn));
      const old = oldColumn || (oldPaths[0]?.column ?? '');
      for (const { name } of renamed) this.#madeColumns.push({ table: name, from: old, to: newColumn });
      if (isMadeByRebuild || renamed.length > 0) return this.#reportMade(rename);
      const columnPaths = tables.flatMap(({ name: object, columns }) =>
        columns.map(({ name: column }) => formatPath({ object, column })),
      );
      const suggestion = formatSuggestion(from, columnPaths) || this.#suggestObject(from);
      throw renameError(rename, `B has no '${from}'${suggestion}`);
    }
    const table = this.objects.get(oldTable) ?? oldTable;
    const wanted = findTable(this.a, table);
    const names = wanted?.columns.map(({ name }) => name) ?? [];
    if (isSameName(source.name, newColumn)) throw renameError(rename, SAME_NAME);
    const name = names.find(candidate => isSameName(candidate, newColumn));
    if (!wanted && this.ignore.ignoresObject({ ...former, name: table }))
      throw renameError(rename, formatIgnoredObject(table));
    if (!wanted || name === undefined)
      throw renameError(rename, `A has no column '${newColumn}' in '${table}'${formatSuggestion(newColumn, names)}`);
    if (findColumn(former, name)) throw renameError(rename, `B has a column '${name}' too`);
    if (findColumn(wanted, source.name)) throw renameError(rename, `A has a column '${oldColumn}' too`);
    rejectSharedName(rename, source.name, name, this.columnRenamesOf(table));
    this.#addColumnRename(table, source.name, name);
  }

  #readObjectComment({ entry, from, text }: EntryComment, all: readonly EntryComment[]): void {
    const problem = findCommentProblem(from, entry.name);
    if (problem !== undefined) return this.#warn(entry, text, problem);
    const old = from.find(name => this.engineOfB.find(name));
    for (const name of from) this.statedObjects.set(name, entry.name);
    const hasRename = [entry.name, old].some(name => name !== undefined && this.otherName(name) !== undefined);
    if (hasRename) return; // a `--renamed` or an earlier comment takes precedence
    const hasNewName = this.engineOfB.find(entry.name) !== undefined;
    // B has none of the old names, so an earlier plan may have made the rename.
    if (old === undefined) {
      for (const name of hasNewName ? from : []) if (!this.a.findObject(name)) this.objects.set(name, entry.name);
      return;
    }
    const isOldNameReused = () => all.some(other => other.column === undefined && isSameName(other.entry.name, old));
    const isKept = this.a.findObject(old) !== undefined;
    const newNameProblem = `B has a '${entry.name}' too`;
    // A and B have both names, so no rename is needed. It is a contradiction if the object of A with the old name has a rename comment too.
    if (hasNewName && isKept && !isOldNameReused()) return this.#warn(entry, text, newNameProblem);
    if (hasNewName || isKept)
      return this.#leaveOut(entry, `${text}: ${isKept ? `A has a '${old}' too` : newNameProblem}`, old);
    this.objects.set(old, entry.name);
    this.pending.set(old, entry.name);
  }

  #readColumnComment({ entry, column = '', from, text }: EntryComment, all: readonly EntryComment[]): void {
    const problem = findCommentProblem(from, column);
    if (problem !== undefined) return this.#warn(entry, text, problem);
    const halfRebuilt = () => this.#findOldTables(entry.name).find(table => from.some(name => findColumn(table, name)));
    const [former, wanted] = [this.#findTableOfB(entry.name) ?? halfRebuilt(), findTable(this.a, entry.name)];
    if (!former || !wanted) return;
    for (const name of from) this.#statedColumns.push({ table: entry.name, from: name, to: column });
    const old = from.map(name => findColumn(former, name)).find(column => column !== undefined);
    const hasRename = [...this.columnRenamesOf(entry.name)].some(
      ([renamed, to]) => isSameName(to, column) || from.some(name => isSameName(name, renamed)),
    );
    if (hasRename) return;
    const oldNameInA = from.find(
      name => findColumn(wanted, name) && all.some(each => each.entry === entry && isSameName(each.column, name)),
    );
    // Suppose A says `x -- renamed from y` and `y -- renamed from x`. If a plan for that was interrupted, the names in B would not show
    // which column has which values. So a table is left out if A gives the old name of one column to another column.
    if (oldNameInA !== undefined) return this.#leaveOut(entry, `${text}: A has a column '${oldNameInA}' too`);
    if (old === undefined && findColumn(former, column)) {
      for (const name of from) this.#madeColumns.push({ table: former.name, from: name, to: column });
      return void from.some(name => this.#addRenameMadeByRebuild({ object: entry.name, column: name }, column));
    }
    if (old === undefined) {
      const names = former.columns.map(({ name }) => name);
      return this.#warn(entry, text, `B has no column '${from[0]}'${formatSuggestion(from[0] ?? '', names)}`);
    }
    const namesake = findColumn(former, column);
    if (namesake === undefined && findColumn(wanted, old.name))
      return this.#leaveOut(entry, `${text}: A has a column '${old.name}' too`);
    if (namesake === undefined) return this.#addColumnRename(entry.name, old.name, column);
    const newNameProblem = `B has a column '${column}' too`;
    // B has both columns, so the rename is impossible. If the types of `namesake` differ in A and B, a plan would convert its values,
    // although A expects the values of the old column there. Otherwise a warning is enough.
    if (namesake.type !== findColumn(wanted, column)?.type) return this.#leaveOut(entry, `${text}: ${newNameProblem}`);
    this.#warn(entry, text, newNameProblem);
  }

  #findTableOfB(name: string): TableDefinition | undefined {
    const isThere = this.engineOfB.definitionOf(name) !== undefined;
    return findTable(this.engineOfB, isThere ? name : (this.otherName(name) ?? name));
  }

  #findOldTables(table: string): TableDefinition[] {
    const rebuilt = this.#rebuilt.filter(old => isSameName(old.table, table));
    return rebuilt.flatMap(({ name }) => findTable(this.engineOfB, name) ?? []);
  }

  /** Adds the rename if a rebuild has made it: the old table of the rebuild has `column`, and not `to`. @returns whether it was added */
  #addRenameMadeByRebuild({ object, column = '' }: ObjectPath, to: string): boolean {
    const table = this.objects.get(object) ?? object;
    const [copied] = this.#findOldTables(table).flatMap(old => (!findColumn(old, to) && findColumn(old, column)) || []);
    if (copied) this.#addColumnRename(table, copied.name, to);
    return copied !== undefined;
  }

  /** Leaves out an entry, and the object of B with the old name. If that object is already left out, its first reason is kept. */
  #leaveOut(entry: Entry, reason: string, old = entry.name): void {
    this.contradictions.set(entry.name, reason);
    if (!this.contradictions.has(old)) this.contradictions.set(old, `${displayName(entry)}: ${reason}`);
  }

  #reportMade(rename: string): void {
    this.notes.push(`--renamed ${rename}: an earlier plan has already made this rename`);
  }

  #warn(entry: Entry, comment: string, reason: string): void {
    this.warnings.push(`${displayName(entry)}: ${comment}: ${reason}`);
  }

  #suggestObject(name: string): string {
    const names = this.engineOfB.catalogue.list().map(object => object.name);
    return formatSuggestion(name, names);
  }
}

/** A rename of a column that the user states. */
interface ColumnRename {
  readonly table: string;
  readonly from: string;
  readonly to: string;
}

const renamesIn = (tables: readonly (string | undefined)[], columns: readonly ColumnRename[]) =>
  columns.flatMap(({ table, from, to }) => (tables.some(name => isSameName(name, table)) ? [[from, to] as const] : []));

const findOldName = (renames: NameMap<string>, name: string): string | undefined =>
  [...renames].find(([, to]) => isSameName(to, name))?.[0];

function findTable(schema: Pick<Engine, 'definitionOf'>, name: string): TableDefinition | undefined {
  const definition = schema.definitionOf(name);
  return definition?.kind === 'table' ? definition : undefined;
}

/** @throws InvalidOptionError if another object or column gets the same new name */
function rejectSharedName(rename: string, from: string, to: string, others: ReadonlyMap<string, string>): void {
  for (const [old, name] of others)
    if (isSameName(name, to) && !isSameName(old, from))
      throw renameError(rename, `'${old}' gets the name '${name}' too`);
}

type EntryComment = RenameComment & { readonly entry: Entry };

/** Why an option about an ignored object cannot have an effect. */
export const formatIgnoredObject = (name: string): string => `'${name}' is ignored, so it is not changed`;

const renameError = (rename: string, reason: string) => new InvalidOptionError(`--renamed ${rename}: ${reason}`);

/** QuestDB does not change the case of a name: 9.3.4 ignores RENAME of a table from `t` to `T`, and rejects it for a column. */
const SAME_NAME = 'for QuestDB, names that differ only in case are the same name';

/** Why a rename comment never has an effect. Undefined if its effect depends on A and B. */
function findCommentProblem(from: readonly string[], name: string): string | undefined {
  if (from.length === 0) return "not understood; write '-- renamed from OLD'";
  return from.some(former => isSameName(former, name)) ? SAME_NAME : undefined;
}

interface RenameComment {
  /** Undefined if the comment is about the object. */
  readonly column: string | undefined;
  /** Empty if the comment cannot be understood. */
  readonly from: readonly string[];
  readonly text: string;
  /** Where the comment is, or the column below it. */
  readonly position: number;
}

/**
 * Reads the comments that begin with `-- renam`. Of these two, the first is about the table, the second about the column:
 *     CREATE TABLE trades ( -- renamed from deals, old_trades
 *       qty LONG -- renamed from amount
 * A comment about the object may also be before CREATE or after the last token. One about a column may be on a line of its own above it.
 */
function parseRenameComments(statement: string): RenameComment[] {
  if (!/--\s*renam/i.test(statement)) return [];
  const comments: RenameComment[] = [];
  const { columns, end } = locateColumns(statement);
  const significant = [...significantTokens(statement)];
  const open = significant.find(({ text }) => text === '(')?.start ?? statement.length;
  const last = significant.findLast(({ text }) => text !== ';')?.start ?? 0;
  /** `previous` is the start of the last significant token before a comment, `next` the index of the first column after it. */
  let [previous, next, isLineEmpty] = [-1, 0, true];
  for (const { type, text, start } of tokens(statement)) {
    if (type === 'comment' && /^--\s*renam/i.test(text)) {
      while ((columns[next]?.start ?? start) < start) next++;
      const isAfterColumn = !isLineEmpty && start < end;
      const column = isLineEmpty ? columns[next] : isAfterColumn ? columns[next - 1] : undefined;
      const isOfObject = previous < 0 || previous >= last || (previous <= open && !isLineEmpty);
      const comment = { from: parseNames(text), text: text.trim(), position: start };
      if (isOfObject) comments.push({ ...comment, column: undefined });
      else if (column) comments.push({ ...comment, column: column.name, position: Math.max(start, column.start) });
    }
    if (type === 'comment' || type === 'space') isLineEmpty ||= text.includes('\n');
    else [previous, isLineEmpty] = [start, false];
  }
  return comments.sort((a, b) => a.position - b.position);
}

/** Parses the names in `-- renamed from qty, "a b"`. A comma at the end is that of the list of columns. */
function parseNames(comment: string): string[] {
  const [, list = ''] = /^--\s*renamed\s+from\s+(.*)$/is.exec(comment.trim()) ?? [];
  const parts = [...significantTokens(list.replace(/,\s*$/, ''))];
  const isList = parts.every(({ type, text }, i) => (i % 2 === 0 ? type !== 'punctuation' : text === ','));
  return isList && parts.length % 2 === 1 ? parts.filter((_, i) => i % 2 === 0).map(({ text }) => unquote(text)) : [];
}
