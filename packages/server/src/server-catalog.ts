/*! The objects of one database: found by name in any case, listed in the order the service lists them. */
import { isSystemTable } from '@sqlpipe/ddl';
import { topologicalOrder } from '@sqlpipe/schema';
import { foldCase } from '@sqlpipe/sql';
import type { AclChange } from './acl/acl.js';
import type { CatalogObject } from './objects.js';

/** How columns without an alias are named: `cairo.sql.column.alias.expression.enabled` chooses the first. */
export type Naming = 'by expression' | 'by function';

/** One step of what a statement did; `acl` is for the edition that has access control. */
export type Change =
  | { readonly put: CatalogObject }
  | { readonly drop: string }
  | { readonly clear: true }
  | { readonly acl: AclChange };

export class ServerCatalog {
  readonly #objects = new Map<string, CatalogObject>();

  /** Views by what they name, in lower case, whether it is there or not. */
  readonly #dependents = new Map<string, Set<string>>();

  #changes: Change[] = [];

  constructor(readonly naming: Naming = 'by expression') {}

  find(name: string): CatalogObject | undefined {
    return this.#objects.get(key(name));
  }

  /** Adds an object, or puts it in the place of the one with its name. */
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

  /** What the object of that name referred to, it refers to no more. */
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

  /** The views that name an object, which need not be there. */
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

  /** Everything that is not the service's own, in the order it came. */
  list(): CatalogObject[] {
    return [...this.#objects.values()].filter(({ name }) => !isSystemTable(name));
  }

  /** The objects chosen, as the dump orders them: what is not chosen leads nowhere. */
  inDependencyOrder(chosen: (object: CatalogObject) => boolean): CatalogObject[] {
    const objects = new Map(
      this.list()
        .filter(chosen)
        .map(object => [object.name, object]),
    );
    const needs = new Map([...objects.values()].map(object => [object.name, this.#dependencies(object)]));
    return topologicalOrder(needs).flatMap(name => objects.get(name) ?? []);
  }

  /** What an object needs: its references, and through each view among them what that one needs. */
  #dependencies(object: CatalogObject): string[] {
    if (object.kind === 'table') return [];
    if (object.kind === 'live view') return this.#names([object.base]);
    if (object.kind === 'materialized view') return this.#names([...object.references, object.base]);
    return this.#names(this.closure(object.references));
  }

  /** Names in lower case, and through each view among them the names that one refers to. */
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
