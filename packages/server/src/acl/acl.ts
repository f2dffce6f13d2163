/*! Principals and their rights: users, groups, service accounts, memberships, grants, assumptions. */
import type { Token } from './credentials.js';

export type PrincipalKind = 'user' | 'group' | 'service account';

export interface Principal {
  readonly kind: PrincipalKind;
  readonly name: string;
  /** Users only: the groups they are in. */
  readonly groups: readonly string[];
  /** Hash of the password, if one is set. */
  readonly password?: string | undefined;
  readonly tokens: readonly Token[];
  readonly disabled?: boolean;
  /** Groups only: what they are called elsewhere. */
  readonly alias?: string | undefined;
}

/** A permission on everything, on all tables, on one, or on some of its columns. */
export interface Scope {
  /** A table's name, or `*` for all tables; undefined for the whole database. */
  readonly table?: string | undefined;
  /** Undefined for the whole table. */
  readonly column?: string | undefined;
}

export interface Grant extends Scope {
  readonly entity: string;
  readonly permission: string;
  readonly option: boolean;
}

export interface Assumption {
  readonly account: string;
  readonly entity: string;
  readonly option: boolean;
}

/** One step of what a statement did, as it is written to the journal. */
export type AclChange =
  | { readonly put: Principal }
  | { readonly remove: string }
  | { readonly grant: Grant }
  | { readonly revoke: Omit<Grant, 'option'> }
  | { readonly assume: Assumption }
  | { readonly unassume: Omit<Assumption, 'option'> };

/** Names differ by more than case. */
export const isSameName = (a: string | undefined, b: string | undefined): boolean =>
  a?.toLowerCase() === b?.toLowerCase();

const key = (name: string): string => name.toLowerCase();

/** By table and column, each in lower case; the database and a whole table have keys that no name is. */
type Grants = Map<string, Map<string, Grant>>;
const database = '';
const allTables = '*';
const wholeTable = '';

const tableKey = ({ table }: Scope): string => (table === undefined ? database : key(table));
const columnKey = ({ column }: Scope): string => (column === undefined ? wholeTable : key(column));

export class Acl {
  readonly #principals = new Map<string, Principal>();
  /** By entity and permission. */
  readonly #grants = new Map<string, Map<string, Grants>>();
  #assumptions: Assumption[] = [];
  #changes: AclChange[] = [];

  /** @param admin the built-in administrator, who may everything */
  constructor(readonly admin: string) {}

  /** The changes since the last call, in order. */
  takeChanges(): AclChange[] {
    const changes = this.#changes;
    this.#changes = [];
    return changes;
  }

  /** Applies a recorded change. */
  replay(change: AclChange): void {
    if ('put' in change) this.put(change.put);
    else if ('remove' in change) this.remove(change.remove);
    else if ('grant' in change) this.grant(change.grant);
    else if ('revoke' in change) this.revoke(change.revoke);
    else if ('assume' in change) this.assume(change.assume);
    else this.unassume(change.unassume);
    this.takeChanges();
  }

  /** The changes that recreate the complete state. */
  snapshotChanges(): AclChange[] {
    return [
      ...this.principals().map(put => ({ put })),
      ...this.grants.map(grant => ({ grant })),
      ...this.#assumptions.map(assume => ({ assume })),
    ];
  }

  principals(): Principal[] {
    return [...this.#principals.values()];
  }

  find(name: string): Principal | undefined {
    return this.#principals.get(key(name));
  }

  /** Principals of a kind, by name. */
  list(kind: PrincipalKind): Principal[] {
    const ofKind = this.principals().filter(principal => principal.kind === kind);
    return ofKind.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Adds a principal, or puts it in the place of the one with its name. */
  put(principal: Principal): void {
    this.#changes.push({ put: principal });
    this.#principals.set(key(principal.name), principal);
  }

  /** Removes a principal, and what was said of it. */
  remove(name: string): void {
    this.#changes.push({ remove: name });
    this.#principals.delete(key(name));
    for (const [id, principal] of this.#principals) {
      const groups = principal.groups.filter(group => !isSameName(group, name));
      if (groups.length < principal.groups.length) this.#principals.set(id, { ...principal, groups });
    }
    this.#grants.delete(key(name));
    this.#assumptions = this.#assumptions.filter(
      ({ entity, account }) => !isSameName(entity, name) && !isSameName(account, name),
    );
  }

  get grants(): readonly Grant[] {
    return [...this.#grants.keys()].flatMap(entity => this.grantsTo(entity));
  }

  /** What was granted to somebody, not to their groups. */
  grantsTo(entity: string): Grant[] {
    const permissions = [...(this.#grants.get(key(entity))?.values() ?? [])];
    return permissions.flatMap(tables => [...tables.values()].flatMap(columns => [...columns.values()]));
  }

  get assumptions(): readonly Assumption[] {
    return this.#assumptions;
  }

  /** Adds a grant, in the place of an equal one: its option may differ. A wider one includes the narrower. */
  grant(grant: Grant): void {
    this.#changes.push({ grant });
    const permissions = entry(this.#grants, key(grant.entity));
    const tables: Grants = entry(permissions, grant.permission);
    removeCovered(tables, grant);
    if (findCovering(tables, grant).some(wider => wider.option || !grant.option)) return;
    entry(tables, tableKey(grant)).set(columnKey(grant), grant);
  }

  revoke(revoked: Omit<Grant, 'option'>): void {
    this.#changes.push({ revoke: revoked });
    for (const [permission, tables] of this.#grants.get(key(revoked.entity)) ?? [])
      if (revoked.permission === 'ALL' || revoked.permission === permission) removeCovered(tables, revoked);
  }

  /** Adds an assumption, in the place of an equal one: its option may differ. */
  assume(assumption: Assumption): void {
    this.#changes.push({ assume: assumption });
    this.#assumptions = [...this.#assumptionsExcept(assumption), assumption];
  }

  unassume(assumption: Omit<Assumption, 'option'>): void {
    this.#changes.push({ unassume: assumption });
    this.#assumptions = this.#assumptionsExcept(assumption);
  }

  #assumptionsExcept({ account, entity }: Omit<Assumption, 'option'>): Assumption[] {
    return this.#assumptions.filter(old => !(isSameName(old.account, account) && isSameName(old.entity, entity)));
  }

  /** Whether somebody has a permission, of their own or by a group; and, if asked, may pass it on. */
  has(name: string, permission: string, scope: Scope, withOption = false): boolean {
    if (isSameName(name, this.admin)) return true;
    return this.#grantsFor(name, permission).some(tables =>
      findCovering(tables, scope).some(({ option }) => option || !withOption),
    );
  }

  /** Whether somebody may read a column of a table at least. */
  canRead(name: string, table: string): boolean {
    return (
      this.has(name, 'SELECT', { table }) ||
      this.#grantsFor(name, 'SELECT').some(tables => (tables.get(key(table))?.size ?? 0) > 0)
    );
  }

  /** Somebody, and the groups that they are in. */
  namesWithGroups(name: string): string[] {
    return [name, ...(this.find(name)?.groups ?? [])];
  }

  /** What holds a permission: itself, and those that hold every other one. ALL is less than DATABASE ADMIN. */
  #grantsFor(name: string, permission: string): Grants[] {
    const holding = permission === 'DATABASE ADMIN' ? [permission] : [permission, 'ALL', 'DATABASE ADMIN'];
    return this.namesWithGroups(name).flatMap(own =>
      holding.flatMap(held => this.#grants.get(key(own))?.get(held) ?? []),
    );
  }
}

function entry<K, L, V>(map: Map<K, Map<L, V>>, at: K): Map<L, V> {
  const found = map.get(at) ?? new Map<L, V>();
  map.set(at, found);
  return found;
}

/** The grants whose scope holds another one. */
function findCovering(tables: Grants, scope: Scope): Grant[] {
  const places = [
    [database, wholeTable],
    ...(scope.table === undefined ? [] : [[allTables, wholeTable]]),
    [tableKey(scope), wholeTable],
    [tableKey(scope), columnKey(scope)],
  ] as const;
  return places.flatMap(([table, column]) => tables.get(table)?.get(column) ?? []);
}

/** Removes the grants whose scope is inside that of another one. */
function removeCovered(tables: Grants, scope: Scope): void {
  if (scope.table === undefined) tables.clear();
  else if (scope.table === allTables) {
    for (const table of tables.keys()) if (table !== database) tables.delete(table);
  } else if (scope.column === undefined) tables.delete(tableKey(scope));
  else tables.get(tableKey(scope))?.delete(columnKey(scope));
}
