/*! Resolves the options of a plan that contain names: renames, allowed losses, and tables to rebuild. */
import type { Engine } from '@sqlpipe/engine';
import { InvalidSelectionError, type Schema } from '@sqlpipe/schema';
import { foldCase, isSameName, unquote } from '@sqlpipe/sql';
import { AllowedLosses, type Loss } from './losses.js';
import { readings, resolvePath, splitRename } from './names.js';
import type { WantedSchema } from './wanted-schema.js';

/** The options of a plan that contain names. */
export interface RequestOptions {
  /** The names of what may be lost: `drop:trades.qty`, `history:m_1h`. */
  readonly allowLoss?: readonly string[];
  /** Renames of objects and columns: `old=new`, `trades.old=new`. */
  readonly renamed?: readonly string[];
  /** Tables to recreate if they differ. */
  readonly rebuild?: readonly string[];
}

/** The values of these options, resolved against both schemas. */
export class Requests {
  readonly #a: WantedSchema;
  readonly #b: Schema;
  readonly #engine: Engine;
  /** The new names of objects to be renamed, by their old names in lower case. */
  readonly renamedObjects = new Map<string, string>();
  /** The new names of all renamed objects, including those that were renamed before. */
  readonly #newNames = new Map<string, string>();
  /** By the new name of a table in lower case: the new names of its columns by their old names. */
  readonly #renamedColumns = new Map<string, Map<string, string>>();
  readonly #allowed: AllowedLosses;
  readonly #tablesToRebuild: ReadonlySet<string>;

  /**
   * @param engine schema B as it is before the plan
   * @throws InvalidSelectionError for names that match nothing or are ambiguous
   */
  constructor(a: WantedSchema, b: Schema, engine: Engine, options: RequestOptions) {
    this.#a = a;
    this.#b = b;
    this.#engine = engine;
    this.#readRenames(options.renamed ?? []);
    this.#allowed = new AllowedLosses(options.allowLoss ?? [], this.#columnsOf);
    this.#tablesToRebuild = new Set((options.rebuild ?? []).map(name => this.#tableToRebuild(name)));
  }

  /** Whether a loss is allowed, by the old name of a renamed object or by its new one. */
  mayLose(loss: Loss): boolean {
    const newName = this.#newNames.get(foldCase(loss.object));
    const oldName = [...this.#newNames].find(([, to]) => isSameName(to, loss.object))?.[0];
    return this.#allowed.has(loss, newName ?? oldName);
  }

  /** The values of --allow-loss that allowed something, and those that did not. */
  allowedLosses(): { used: string[]; unused: string[] } {
    return this.#allowed.names();
  }

  /** Whether a table is to be recreated if it differs. */
  isToRebuild(table: string): boolean {
    return this.#tablesToRebuild.has(foldCase(table));
  }

  /** The new names of the columns of a table by their old names. */
  renamedColumns(table: string): ReadonlyMap<string, string> {
    return this.#renamedColumns.get(foldCase(table)) ?? new Map();
  }

  readonly #columnsOf = (name: string): ReadonlySet<string> | undefined => {
    const old = [...this.#newNames].find(([, to]) => isSameName(to, name))?.[0];
    const names = [name, this.#newNames.get(foldCase(name)) ?? name, old ?? name];
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
  #readRenames(renames: readonly string[]): void {
    const ofColumns: [rename: string, from: string, to: string][] = [];
    for (const rename of renames) {
      const [from, to] = splitRename(rename);
      const name = resolvePath(to, name => (this.#a.findObject(name) ? new Set() : undefined))?.object;
      if (name === undefined || resolvePath(from, this.#columnsOf)?.column !== undefined)
        ofColumns.push([rename, from, to]);
      else this.#readObjectRename(rename, resolvePath(from, this.#columnsOf)?.object ?? unquote(from), name);
    }
    for (const each of ofColumns) this.#readColumnRename(...each);
  }

  #readObjectRename(rename: string, from: string, to: string): void {
    const [before, after] = [this.#engine.find(from), this.#a.findObject(to)];
    if (!after) throw new InvalidSelectionError(`--renamed ${rename}: A has no '${to}'`);
    this.#newNames.set(foldCase(from), after.name);
    if (!before && this.#engine.find(to)) return; // it has been done
    if (!before) throw new InvalidSelectionError(`--renamed ${rename}: B has no '${from}'`);
    if (this.#a.findObject(from)) throw new InvalidSelectionError(`--renamed ${rename}: A has a '${from}' too`);
    if (this.#engine.find(to)) throw new InvalidSelectionError(`--renamed ${rename}: B has a '${to}' too`);
    this.renamedObjects.set(foldCase(before.name), after.name);
  }

  #readColumnRename(rename: string, from: string, to: string): void {
    const short = resolvePath(to, this.#columnsOf)?.column ?? unquote(to);
    const old = resolvePath(from, this.#columnsOf);
    if (old?.column === undefined) {
      const isDone = readings(from).some(
        ({ object, column }) => column !== undefined && this.#columnsOf(object)?.has(foldCase(short)),
      );
      if (isDone) return;
      throw new InvalidSelectionError(`--renamed ${rename}: B has no '${from}'`);
    }
    const table = this.#newNames.get(foldCase(old.object)) ?? old.object;
    const after = this.#a.definitionOf(table);
    const names = after?.kind === 'table' ? after.columns.map(({ name }) => name) : [];
    const name = names.find(each => isSameName(each, short));
    if (name === undefined)
      throw new InvalidSelectionError(`--renamed ${rename}: A has no column '${short}' in '${table}'`);
    if (names.some(each => isSameName(each, old.column ?? '')))
      throw new InvalidSelectionError(`--renamed ${rename}: A has a column '${old.column}' too`);
    const renames = this.#renamedColumns.get(foldCase(table)) ?? new Map<string, string>();
    this.#renamedColumns.set(foldCase(table), renames.set(old.column, name));
  }

  #tableToRebuild(name: string): string {
    const path = resolvePath(name, this.#columnsOf);
    if (this.#a.findObject(path?.object ?? '')?.kind !== 'table')
      throw new InvalidSelectionError(`--rebuild ${name}: A has no such table`);
    return foldCase(path?.object ?? '');
  }
}
