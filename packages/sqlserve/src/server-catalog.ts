/*! The objects of one database: found by name in any case, listed in QuestDB's order. */
import { isSystemTable } from '@sqlpipe/ddl';
import { topologicalOrder } from '@sqlpipe/schema';
import { foldCase } from '@sqlpipe/sql';
import type { AclChange } from './acl/acl.js';
import type { CatalogObject } from './objects.js';

/** How columns without an alias are named: `cairo.sql.column.alias.expression.enabled` selects 'by expression'. */
export type Naming = 'by expression' | 'by function';

/** One change that a statement made; only the edition with access control has `acl`. */
export type Change =
  | { readonly put: CatalogObject }
  | { readonly drop: string }
  | { readonly clear: true }
  | { readonly acl: AclChange };

export class ServerCatalog {
  readonly #objects = new Map<string, CatalogObject>();

  /** For each name, the views that refer to it, all in lower case. The named object need not exist. */
  readonly #dependents = new Map<string, Set<string>>();

  #changes: Change[] = [];

  constructor(readonly naming: Naming = 'by expression') {}

  find(name: string): CatalogObject | undefined {
    return this.#objects.get(key(name));
  }

  /** Adds an object, or replaces the one of the same name. */
  put(object: CatalogObject): void {
    this.#removeReferences(object.name);
    this.#objects.set(key(object.name), object);
    for (const name of referencesOf(object)) {
      const views = this.#dependents.get(key(name)) ?? new Set();
      this.#dependents.set(key(name), views.add(key(object.name)));
    }
    this.#changes.push({ put: object });
  }

  drop(name: string): void {
    this.#removeReferences(name);
    this.#objects.delete(key(name));
    this.#changes.push({ drop: name });
  }

  /** Removes the object of that name from the dependents of what it refers to. */
  #removeReferences(name: string): void {
    const object = this.find(name);
    for (const reference of object ? referencesOf(object) : []) {
      const views = this.#dependents.get(key(reference));
      views?.delete(key(name));
      if (views?.size === 0) this.#dependents.delete(key(reference));
    }
  }

  clear(): void {
    this.#objects.clear();
    this.#dependents.clear();
    this.#changes.push({ clear: true });
  }

  /** The views that refer to a name; an object of that name need not exist. */
  dependentsOf(name: string): CatalogObject[] {
    return [...(this.#dependents.get(key(name)) ?? [])].flatMap(view => this.find(view) ?? []);
  }

  get changes(): readonly Change[] {
    return this.#changes;
  }

  /** The changes since the last call, in order. */
  takeChanges(): Change[] {
    const changes = this.#changes;
    this.#changes = [];
    return changes;
  }

  /** Applies a recorded change. */
  replay(change: Change): void {
    if ('put' in change) this.put(change.put);
    else if ('drop' in change) this.drop(change.drop);
    else if ('clear' in change) this.clear();
    this.takeChanges();
  }

  /** The changes that recreate this catalog. */
  snapshotChanges(): Change[] {
    return [...this.#objects.values()].map(put => ({ put }));
  }

  /** The objects of an owner. */
  ownedBy(owner: string): CatalogObject[] {
    return [...this.#objects.values()].filter(object => object.owner && key(object.owner) === key(owner));
  }

  /** All objects but QuestDB's own tables, in the order of their creation. */
  list(): CatalogObject[] {
    return [...this.#objects.values()].filter(({ name }) => !isSystemTable(name));
  }

  /** The chosen objects in the order of a dump. Dependencies on other objects are ignored. */
  inDependencyOrder(chosen: (object: CatalogObject) => boolean): CatalogObject[] {
    const objects = new Map(
      this.list()
        .filter(chosen)
        .map(object => [object.name, object]),
    );
    const needs = new Map([...objects.values()].map(object => [object.name, this.#dependencies(object)]));
    return topologicalOrder(needs).flatMap(name => objects.get(name) ?? []);
  }

  /** The names that an object depends on: its references, and for each view among them that view's references too. */
  #dependencies(object: CatalogObject): string[] {
    if (object.kind === 'table') return [];
    if (object.kind === 'live view') return this.#names([object.base]);
    if (object.kind === 'materialized view') return this.#names([...object.references, object.base]);
    return this.#names(this.closure(object.references));
  }

  /** The names, and for each view among them the names that the view refers to; all in lower case. */
  closure(names: readonly string[]): Set<string> {
    const seen = new Set<string>();
    const pending = [...names];
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      if (seen.has(key(name))) continue;
      seen.add(key(name));
      const object = this.find(name);
      if (object?.kind === 'view') pending.push(...object.references);
    }
    return seen;
  }

  /** Names as the catalog spells them, without objects that no longer exist. */
  #names(names: Iterable<string>): string[] {
    return [...names].flatMap(name => this.find(name)?.name ?? []);
  }
}

const referencesOf = (object: CatalogObject): readonly string[] => ('references' in object ? object.references : []);

const key = foldCase;
