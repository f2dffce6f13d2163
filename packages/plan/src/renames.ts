/*! What has another name in A than in B: stated by --renamed, or by comments in A. A guess could lose data. */
import { findColumn, type TableDefinition } from '@sqlpipe/ddl';
import type { Engine } from '@sqlpipe/engine';
import { type Entry, InvalidSelectionError, type Schema } from '@sqlpipe/schema';
import { displayName, foldCase, isObject, isSameName, unquote } from '@sqlpipe/sql';
import { suggestWord } from '@sqlpipe/text';
import { formatPath, type ObjectPath, readings, resolvePath, splitRename } from './object-path.js';
import { parseRebuildName } from './rebuild-names.js';
import { parseRenameComments, type RenameComment } from './rename-comments.js';
import type { WantedSchema } from './wanted-schema.js';

export class Renames {
  readonly #a: WantedSchema;
  readonly #b: Schema;
  readonly #engine: Engine;
  /** The new names of objects to be renamed, by their old names in lower case. */
  readonly objects = new Map<string, string>();
  /** The new names of all renamed objects, including those that were renamed before. */
  readonly #newNames = new Map<string, string>();
  /** By the new name of a table in lower case: the new names of its columns by their old names. */
  readonly #columns = new Map<string, Map<string, string>>();
  /** Remarks about renames that have been made. */
  readonly notes: string[] = [];
  /** Why comments have no effect that should have one. */
  readonly warnings: string[] = [];
  /** Objects of A, in lower case, that a comment calls a rename of what A has too: they are not changed, with the reasons. */
  readonly refused = new Map<string, string>();
  /** All renames that are stated, also those that have been made, by the old names: of objects, and of columns. */
  readonly stated = { objects: new Map<string, string>(), columns: new Map<string, string>() };

  /**
   * @param engine schema B as it is before the plan
   * @param renamed renames as `OLD=NEW`, which take precedence over comments
   * @throws InvalidSelectionError for names that match nothing or are ambiguous
   */
  constructor(a: WantedSchema, b: Schema, engine: Engine, renamed: readonly string[]) {
    this.#a = a;
    this.#b = b;
    this.#engine = engine;
    this.#readOptions(renamed);
    const commented = a.entries
      .filter(({ kind }) => isObject(kind))
      .map(entry => ({
        entry,
        comments: parseRenameComments(entry.statement),
      }));
    for (const { entry, comments } of commented)
      for (const comment of comments)
        if (comment.column === undefined) this.#readObjectComment(entry, comment, commented);
    for (const { entry, comments } of commented)
      for (const comment of comments)
        if (comment.column !== undefined) this.#readColumnComment(entry, comment, comments);
  }

  /** The other name of a renamed object, old or new. */
  otherName(name: string): string | undefined {
    return this.#newNames.get(foldCase(name)) ?? [...this.#newNames].find(([, to]) => isSameName(to, name))?.[0];
  }

  /** The name that an object of B is to have. */
  newName(name: string): string {
    return this.objects.get(foldCase(name)) ?? name;
  }

  /** The new names of all objects and columns whose renames are stated, made or not, by the old ones in lower case. */
  get statedNames(): ReadonlyMap<string, string> {
    const { columns, objects } = this.stated;
    return new Map([...columns, ...objects].map(([from, to]) => [foldCase(from), to]));
  }

  /** The new names of the columns of a table by their old names. @param table its new name */
  columnsOf(table: string): ReadonlyMap<string, string> {
    return this.#columns.get(foldCase(table)) ?? new Map();
  }

  /** The columns of an object in both schemas, in lower case, by its old name or its new one; undefined if there is none. */
  readonly findColumns = (name: string): ReadonlySet<string> | undefined => {
    const names = [name, this.otherName(name) ?? name];
    const exists = names.some(
      each =>
        this.#engine.find(each) ||
        this.#a.findObject(each) ||
        this.#a.findPrincipal(each) ||
        this.#b.findPrincipal(each),
    );
    if (!exists) return undefined;
    const found = names.flatMap(each => [this.#engine.definitionOf(each), this.#a.definitionOf(each)]);
    return new Set(
      found.flatMap(each => (each?.kind === 'table' ? each.columns.map(column => foldCase(column.name)) : [])),
    );
  };

  /** Reads renames of objects first, because a rename of a column may use the old name of its table. */
  #readOptions(renames: readonly string[]): void {
    const ofColumns: [rename: string, from: string, to: string][] = [];
    for (const rename of renames) {
      const [from, to] = splitRename(rename);
      const name = resolvePath(to, name => (this.#a.findObject(name) ? new Set() : undefined))?.object;
      if (name === undefined || resolvePath(from, this.findColumns)?.column !== undefined)
        ofColumns.push([rename, from, to]);
      else this.#readObjectRename(rename, resolvePath(from, this.findColumns)?.object ?? unquote(from), name);
    }
    for (const each of ofColumns) this.#readColumnRename(...each);
  }

  #readObjectRename(rename: string, from: string, to: string): void {
    const [before, after] = [this.#engine.find(from), this.#a.findObject(to)];
    if (!after) throw new InvalidSelectionError(`--renamed ${rename}: A has no '${to}'`);
    this.#newNames.set(foldCase(from), after.name);
    this.stated.objects.set(from, after.name);
    // A view is dropped before it is created under its new name.
    const isDone = this.#engine.find(to) !== undefined || this.#oldTablesOf(to).length > 0;
    if (!before && (isDone || after.kind !== 'table')) return this.#noteDone(rename);
    if (!before) throw new InvalidSelectionError(`--renamed ${rename}: B has no '${from}'${this.#suggestObject(from)}`);
    if (this.#a.findObject(from)) throw new InvalidSelectionError(`--renamed ${rename}: A has a '${from}' too`);
    if (this.#engine.find(to)) throw new InvalidSelectionError(`--renamed ${rename}: B has a '${to}' too`);
    this.objects.set(foldCase(before.name), after.name);
  }

  #readColumnRename(rename: string, from: string, to: string): void {
    const short = resolvePath(to, this.findColumns)?.column ?? unquote(to);
    const old = resolvePath(from, this.findColumns);
    const stated = old?.column ?? readings(from).find(({ column }) => column !== undefined)?.column;
    this.stated.columns.set(stated ?? unquote(from), short);
    if (old?.column === undefined || !hasColumn(this.#tableBefore(old.object), old.column)) {
      const tables = readings(from).flatMap(({ object, column }) =>
        column === undefined ? [] : (this.#tableBefore(object) ?? []),
      );
      const isCopied = readings(from).some(path => this.#readCopiedColumn(path, short));
      if (isCopied || tables.some(table => hasColumn(table, short))) return this.#noteDone(rename);
      const names = tables.flatMap(({ name, columns }) =>
        columns.map(column => formatPath({ object: name, column: column.name })),
      );
      const suggestion = suggestWord(from, names) || this.#suggestObject(from);
      throw new InvalidSelectionError(`--renamed ${rename}: B has no '${from}'${suggestion}`);
    }
    const table = this.#newNames.get(foldCase(old.object)) ?? old.object;
    const after = this.#tableAfter(table);
    const names = after?.columns.map(({ name }) => name) ?? [];
    const name = names.find(each => isSameName(each, short));
    if (name === undefined)
      throw new InvalidSelectionError(
        `--renamed ${rename}: A has no column '${short}' in '${table}'${suggestWord(short, names)}`,
      );
    if (hasColumn(this.#tableBefore(old.object), name))
      throw new InvalidSelectionError(`--renamed ${rename}: B has a column '${name}' too`);
    if (hasColumn(after, old.column))
      throw new InvalidSelectionError(`--renamed ${rename}: A has a column '${old.column}' too`);
    this.#addColumn(table, old.column, name);
  }

  #readObjectComment(entry: Entry, { from, text }: RenameComment, all: readonly CommentedEntry[]): void {
    if (from.length === 0) return this.#warn(entry, text, NOT_UNDERSTOOD);
    const old = from.find(name => this.#engine.find(name));
    for (const name of from) this.stated.objects.set(name, entry.name);
    const isStated = [entry.name, old].some(name => name !== undefined && this.otherName(name) !== undefined);
    if (isStated || old === undefined) return;
    const isNew = !this.#engine.find(entry.name);
    const goesOn = all.some(({ entry, comments }) => isSameName(entry.name, old) && comments.some(isOfObject));
    if (this.#a.findObject(old) && (isNew || goesOn))
      return this.#refuse([entry.name, old], `${text}: A has a '${old}' too`);
    if (!isNew) return this.#warn(entry, text, `B has a '${entry.name}' too`);
    this.#newNames.set(foldCase(old), entry.name);
    this.objects.set(foldCase(old), entry.name);
  }

  #readColumnComment(entry: Entry, { column = '', from, text }: RenameComment, all: readonly RenameComment[]): void {
    if (from.length === 0) return this.#warn(entry, text, NOT_UNDERSTOOD);
    const [before, after] = [this.#tableBefore(entry.name), this.#tableAfter(entry.name)];
    if (!before || !after) return;
    for (const name of from) this.stated.columns.set(name, column);
    const old = from.find(name => hasColumn(before, name));
    const isStated = [...this.columnsOf(entry.name)].some(([old, to]) => isSameName(to, column) || from.includes(old));
    if (isStated || (old === undefined && hasColumn(before, column))) return;
    if (old === undefined) {
      const names = before.columns.map(({ name }) => name);
      return this.#warn(entry, text, `B has no column '${from[0]}'${suggestWord(from[0] ?? '', names)}`);
    }
    const goesOn = all.some(other => other.column !== undefined && isSameName(other.column, old));
    if (hasColumn(after, old) && (!hasColumn(before, column) || goesOn))
      return this.#refuse([entry.name], `${text}: A has a column '${old}' too`);
    const isAsWanted = findColumn(before, column)?.type === findColumn(after, column)?.type;
    if (hasColumn(before, column) && !isAsWanted)
      return this.#refuse([entry.name], `${text}: B has a column '${column}' too`);
    if (hasColumn(before, column)) return this.#warn(entry, text, `B has a column '${column}' too`);
    this.#addColumn(entry.name, old, column);
  }

  /** The table of B that has this name, or has it after the plan. */
  #tableBefore(name: string): TableDefinition | undefined {
    const found = this.#engine.definitionOf(name) ?? this.#engine.definitionOf(this.otherName(name) ?? name);
    return found?.kind === 'table' ? found : undefined;
  }

  #tableAfter(name: string): TableDefinition | undefined {
    const found = this.#a.definitionOf(name);
    return found?.kind === 'table' ? found : undefined;
  }

  /** The tables that rebuilds have kept under another name, also those that are not complete. */
  #oldTablesOf(table: string): TableDefinition[] {
    return [...this.#engine.objects()].flatMap(({ name }) => {
      const { role, table: rebuilt = '' } = parseRebuildName(name) ?? {};
      const old = role === 'before' && isSameName(rebuilt, table) ? this.#engine.definitionOf(name) : undefined;
      return old?.kind === 'table' ? old : [];
    });
  }

  /** Enters a column that a rebuild has copied under its new name. @returns whether there is one */
  #readCopiedColumn({ object, column = '' }: ObjectPath, to: string): boolean {
    const table = this.#newNames.get(foldCase(object)) ?? object;
    const isCopied = this.#oldTablesOf(table).some(old => findColumn(old, column));
    if (isCopied) this.#addColumn(table, column, to);
    return isCopied;
  }

  #addColumn(table: string, from: string, to: string): void {
    const renames = this.#columns.get(foldCase(table)) ?? new Map<string, string>();
    this.#columns.set(foldCase(table), renames.set(from, to));
  }

  #refuse(names: readonly string[], reason: string): void {
    for (const name of names) if (!this.refused.has(foldCase(name))) this.refused.set(foldCase(name), reason);
  }

  #noteDone(rename: string): void {
    this.notes.push(`--renamed ${rename}: it has been done`);
  }

  #warn(entry: Entry, comment: string, reason: string): void {
    this.warnings.push(`${displayName(entry)}: ${comment}: ${reason}`);
  }

  #suggestObject(name: string): string {
    return suggestWord(
      name,
      [...this.#engine.objects()].map(object => object.name),
    );
  }
}

/** A statement of A with its comments about renames. */
interface CommentedEntry {
  readonly entry: Entry;
  readonly comments: readonly RenameComment[];
}

const hasColumn = (table: TableDefinition | undefined, name: string): boolean =>
  table !== undefined && findColumn(table, name) !== undefined;

const isOfObject = ({ column }: RenameComment): boolean => column === undefined;

const NOT_UNDERSTOOD = 'not understood; write -- renamed from OLD';
