/*! The objects of a database, found by name in any case or by id. Lists are in the order of their creation, as in QuestDB. */
import { isSystemTable } from '@sqlpipe/ddl';
import { topologicalOrder } from '@sqlpipe/schema';
import { NameMap, NameSet } from '@sqlpipe/sql';
import { type CatalogueObject, isPlainView, type References, referencesOf } from './catalogue-objects.js';
import type { TransactionLog } from './transaction-log.js';

/** How columns without an alias are named: `cairo.sql.column.alias.expression.enabled` selects 'by expression'. */
export type ColumnNaming = 'by expression' | 'by function';

/** The catalogue, for those who only read it. */
export type Catalogue = Omit<MutableCatalogue, 'put' | 'drop' | 'clear' | 'compile' | 'setWalBypass'>;

/** Names, or a view that refers to them. */
type NamesOrView = readonly string[] | References;

const toNames = (from: NamesOrView): readonly string[] => ('references' in from ? referencesOf(from) : from);

const compareIds = (a: CatalogueObject, b: CatalogueObject): number => (a.id ?? 0) - (b.id ?? 0);

export class MutableCatalogue {
  readonly #objects = new NameMap<CatalogueObject>();
  readonly #names = new Map<number | undefined, string>();

  #lastId = 0;

  /** The volumes that the server has, because an object is or was in one. It may have others. */
  readonly #volumes = new Set<string>();

  readonly #walBypassingIds = new Set<number | undefined>();

  /** For each name, the views that refer to it. The named object need not exist. */
  readonly #dependents = new NameMap<NameSet>();

  /** A cache of `sources` for plain views. Without it, each view of a chain would search the whole rest of the chain. */
  readonly #sources = new NameMap<readonly string[]>();

  /** @param compile derives the columns of a loaded view from its query */
  constructor(
    readonly columnNaming: ColumnNaming = 'by expression',
    private readonly log: TransactionLog,
    readonly compile: (object: CatalogueObject, catalogue: Catalogue) => CatalogueObject,
  ) {}

  /** A loaded view may lack its columns, see `compileAndFind`. */
  find(name: string): CatalogueObject | undefined {
    return this.#objects.get(name);
  }

  findById(id: number | undefined): CatalogueObject | undefined {
    return this.#objects.get(this.#names.get(id) ?? '');
  }

  /** Finds an object, and compiles a loaded view that is not compiled yet. */
  compileAndFind(name: string): CatalogueObject | undefined {
    const object = this.find(name);
    if (!object?.isUncompiled) return object;
    // Two views may read each other. While one of them is compiled, it has no columns. So the query of the other is rejected.
    this.#objects.set(name, { ...object, isUncompiled: false });
    let compiled = object;
    try {
      compiled = this.compile(object, this);
    } finally {
      this.#objects.set(name, compiled);
    }
    return compiled;
  }

  hasVolume(volume: string): boolean {
    return this.#volumes.has(volume);
  }

  /** The ids of the WAL tables that bypass WAL after a restart, see `findEffectsOfRestart`. */
  get walBypassingIds(): ReadonlySet<number | undefined> {
    return this.#walBypassingIds;
  }

  setWalBypass(id: number | undefined, isBypassed: boolean): void {
    if (this.#walBypassingIds.has(id) === isBypassed) return;
    if (isBypassed) this.#walBypassingIds.add(id);
    else this.#walBypassingIds.delete(id);
    this.log.add({ undo: () => this.setWalBypass(id, !isBypassed) });
  }

  put(object: CatalogueObject): void {
    if ('volume' in object && object.volume !== undefined) this.#volumes.add(object.volume);
    this.#change(object.name, this.#assignIds(object));
  }

  /** Keeps the array of columns unless a column is new, because the engine finds changed columns by the identity of the array. */
  #assignIds(object: CatalogueObject): CatalogueObject {
    const id = this.#assignId(object.id ?? this.find(object.name)?.id);
    if (object.kind !== 'table') return { ...object, id };
    const ids = object.columns.map(column => this.#assignId(object.id === undefined ? undefined : column.id));
    const isKnown = object.columns.every((column, i) => column.id === ids[i]);
    const columns = isKnown ? object.columns : object.columns.map((column, i) => ({ ...column, id: ids[i] as number }));
    return { ...object, id, columns };
  }

  #assignId(given: number | undefined): number {
    const id = given ?? this.#lastId + 1;
    this.#lastId = Math.max(this.#lastId, id);
    return id;
  }

  drop(name: string): void {
    this.#change(name, undefined);
  }

  #change(name: string, after: CatalogueObject | undefined): void {
    const before = this.find(name);
    this.#set(name, after);
    const transition = { name: after?.name ?? before?.name ?? name, before, after };
    this.log.add({ transition, undo: () => this.#set(name, before) });
  }

  #set(name: string, object: CatalogueObject | undefined): void {
    const before = this.find(name);
    const areViews = isPlainView(before) && isPlainView(object);
    const keepsSources = areViews ? before.references === object.references : before?.kind === object?.kind;
    if (!keepsSources) this.#sources.delete(name);
    if (!keepsSources && this.#dependents.has(name)) this.#sources.clear(); // the readers have other sources too
    for (const reference of before ? referencesOf(before) : []) {
      const views = this.#dependents.get(reference);
      views?.delete(name);
      if (views?.size === 0) this.#dependents.delete(reference);
    }
    this.#names.delete(before?.id);
    if (!object) return void this.#objects.delete(name);
    this.#objects.set(name, object);
    this.#names.set(object.id, name);
    for (const reference of referencesOf(object)) {
      const views = this.#dependents.get(reference) ?? new NameSet();
      this.#dependents.set(reference, views.add(name));
    }
  }

  clear(): void {
    for (const { name } of [...this.#objects.values()]) this.drop(name);
  }

  directReadersOf(name: string): CatalogueObject[] {
    return [...(this.#dependents.get(name) ?? [])].flatMap(view => this.find(view) ?? []);
  }

  /**
   * The views that read one of the given names, directly or through other views.
   * @param isExpanded whether to look for the readers of a view too; by default, for those of each plain view
   */
  readersOf(names: Iterable<string>, isExpanded: (view: CatalogueObject) => boolean = isPlainView): CatalogueObject[] {
    const seen = new NameSet(names);
    const readers = new Set<CatalogueObject>();
    for (const name of seen)
      for (const view of this.directReadersOf(name)) {
        readers.add(view);
        if (isExpanded(view)) seen.add(view.name); // the set grows during the loop
      }
    return [...readers];
  }

  /** The given names, and those of all views that read one of them, directly or through views of any kind. */
  withReaders(names: readonly string[]): NameSet {
    return new NameSet([...names, ...this.readersOf(names, () => true).map(({ name }) => name)]);
  }

  /** The materialized views that read an object, directly or through plain views. */
  materializedReadersOf(name: string): CatalogueObject[] {
    return this.readersOf([name])
      .filter(({ kind }) => kind === 'materialized view')
      .sort(compareIds);
  }

  listWithSystemTables(): CatalogueObject[] {
    return [...this.#objects.values()].sort(compareIds);
  }

  /** All objects but QuestDB's own tables. */
  list(): CatalogueObject[] {
    return this.listWithSystemTables().filter(({ name }) => !isSystemTable(name));
  }

  /** Objects in dump order, by default all of `list`. Dependencies on tables and stored views that are not chosen are ignored. */
  inDependencyOrder(chosen: Iterable<string> = this.list().map(({ name }) => name)): CatalogueObject[] {
    const objects = new Map([...chosen].flatMap(name => this.find(name) ?? []).map(object => [object.name, object]));
    const isLeftOut = (object: CatalogueObject) => isPlainView(object) && !objects.has(object.name);
    const needs = [...objects.values()].map((object): [string, string[]] => [
      object.name,
      [...this.closure(referencesOf(object), isLeftOut)].flatMap(name => this.find(name)?.name ?? []),
    ]);
    const isView = (name: string) => objects.get(name)?.kind === 'view';
    return topologicalOrder(new Map(needs), isView).flatMap(name => objects.get(name) ?? []);
  }

  /**
   * The given names, or those that a view refers to, and all names that views among these refer to, directly or through other views.
   * @param isExpanded whether to look through a view; by default, through each plain view
   */
  closure(from: NamesOrView, isExpanded: (view: CatalogueObject) => boolean = isPlainView): NameSet {
    const seen = new NameSet(toNames(from));
    for (const name of seen) {
      const object = this.find(name);
      if (object && isExpanded(object)) for (const each of referencesOf(object)) seen.add(each); // the set grows during the loop
    }
    return seen;
  }

  /** The tables and stored views that a query reads if it refers to these names, or that a view reads; sorted. They need not exist. */
  sources(from: NamesOrView): string[] {
    return [...new NameSet(toNames(from).flatMap(name => this.#sourcesOfName(name)))].sort();
  }

  #sourcesOfName(name: string): readonly string[] {
    if (!isPlainView(this.find(name))) return [name];
    const known = this.#sources.get(name);
    if (known) return known;
    const read = this.closure([name], object => isPlainView(object) && !this.#sources.has(object.name));
    const sources = [...read].flatMap(each => (isPlainView(this.find(each)) ? (this.#sources.get(each) ?? []) : each));
    const found = [...new NameSet(sources)];
    this.#sources.set(name, found);
    return found;
  }
}
