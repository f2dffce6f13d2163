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
  /** Groups only: their name outside of the database. */
  readonly alias?: string | undefined;
}

/** What a permission applies to: the whole database, all tables, one table, or one of its columns. */
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

/** One change that a statement made, as it is written to the journal. */
export type AclChange =
  | { readonly put: Principal }
  | { readonly remove: string }
  | { readonly grant: Grant }
  | { readonly revoke: Omit<Grant, 'option'> }
  | { readonly assume: Assumption }
  | { readonly unassume: Omit<Assumption, 'option'> };

/** Whether two names are the same, in any case. */
export const isSameName = (a: string | undefined, b: string | undefined): boolean =>
  a?.toLowerCase() === b?.toLowerCase();

const key = (name: string): string => name.toLowerCase();

/** Grants by table and column, each in lower case. The keys of the database and of a whole table are no valid names. */
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

  /** @param admin the built-in administrator, who has every permission */
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

  /** Adds a principal, or replaces the one of the same name. */
  put(principal: Principal): void {
    this.#changes.push({ put: principal });
    this.#principals.set(key(principal.name), principal);
  }

  /** Removes a principal with its memberships, grants and assumptions. */
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

  /** The grants to a principal itself, without those to its groups. */
  grantsTo(entity: string): Grant[] {
    const permissions = [...(this.#grants.get(key(entity))?.values() ?? [])];
    return permissions.flatMap(tables => [...tables.values()].flatMap(columns => [...columns.values()]));
  }

  get assumptions(): readonly Assumption[] {
    return this.#assumptions;
  }

  /** Adds a grant. It replaces an equal one, whose option may differ, and narrower ones; a wider one includes it. */
  grant(grant: Grant): void {
    this.#changes.push({ grant });
    const permissions = getOrAdd(this.#grants, key(grant.entity));
    const tables: Grants = getOrAdd(permissions, grant.permission);
    removeCovered(tables, grant);
    if (findCovering(tables, grant).some(wider => wider.option || !grant.option)) return;
    getOrAdd(tables, tableKey(grant)).set(columnKey(grant), grant);
  }

  revoke(revoked: Omit<Grant, 'option'>): void {
    this.#changes.push({ revoke: revoked });
    for (const [permission, tables] of this.#grants.get(key(revoked.entity)) ?? [])
      if (revoked.permission === 'ALL' || revoked.permission === permission) removeCovered(tables, revoked);
  }

  /** Adds an assumption, or replaces an equal one, whose option may differ. */
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

  /** Whether a principal or one of its groups has a permission; with `withOption`, whether it may pass it on. */
  has(name: string, permission: string, scope: Scope, withOption = false): boolean {
    if (isSameName(name, this.admin)) return true;
    return this.#grantsFor(name, permission).some(tables =>
      findCovering(tables, scope).some(({ option }) => option || !withOption),
    );
  }

  /** Whether a principal may read at least one column of a table. */
  canRead(name: string, table: string): boolean {
    return (
      this.has(name, 'SELECT', { table }) ||
      this.#grantsFor(name, 'SELECT').some(tables => (tables.get(key(table))?.size ?? 0) > 0)
    );
  }

  /** The name of a principal, and the names of its groups. */
  namesWithGroups(name: string): string[] {
    return [name, ...(this.find(name)?.groups ?? [])];
  }

  /** The grants that may include a permission: its own, those of ALL (without DATABASE ADMIN) and of DATABASE ADMIN. */
  #grantsFor(name: string, permission: string): Grants[] {
    const including = permission === 'DATABASE ADMIN' ? [permission] : [permission, 'ALL', 'DATABASE ADMIN'];
    return this.namesWithGroups(name).flatMap(entity =>
      including.flatMap(granted => this.#grants.get(key(entity))?.get(granted) ?? []),
    );
  }
}

function getOrAdd<K, L, V>(map: Map<K, Map<L, V>>, id: K): Map<L, V> {
  const inner = map.get(id) ?? new Map<L, V>();
  map.set(id, inner);
  return inner;
}

/** The grants whose scope includes another scope. */
function findCovering(tables: Grants, scope: Scope): Grant[] {
  const coveringKeys = [
    [database, wholeTable],
    ...(scope.table === undefined ? [] : [[allTables, wholeTable]]),
    [tableKey(scope), wholeTable],
    [tableKey(scope), columnKey(scope)],
  ] as const;
  return coveringKeys.flatMap(([table, column]) => tables.get(table)?.get(column) ?? []);
}

/** Removes the grants whose scope lies within another scope. */
function removeCovered(tables: Grants, scope: Scope): void {
  if (scope.table === undefined) tables.clear();
  else if (scope.table === allTables) {
    for (const table of tables.keys()) if (table !== database) tables.delete(table);
  } else if (scope.column === undefined) tables.delete(tableKey(scope));
  else tables.get(tableKey(scope))?.delete(columnKey(scope));
}
