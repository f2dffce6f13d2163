/*! Who there is and who may what: users, groups, service accounts, memberships, grants, assumptions. */

export type PrincipalKind = 'user' | 'group' | 'service account';

export interface Principal {
  readonly kind: PrincipalKind;
  readonly name: string;
  /** Users only: the groups they are in. */
  readonly groups: string[];
  /** Hash of the password, if one is set. */
  password?: string | undefined;
  /** Digests of REST tokens. */
  tokens: string[];
  disabled?: boolean;
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

/** All of it, as it is written to the journal. */
export interface AclState {
  readonly principals: readonly Principal[];
  readonly grants: readonly Grant[];
  readonly assumptions: readonly Assumption[];
}

const key = (name: string): string => name.toLowerCase();
const same = (a: string | undefined, b: string | undefined): boolean => a?.toLowerCase() === b?.toLowerCase();

export class Acl {
  readonly #principals = new Map<string, Principal>();
  #grants: Grant[] = [];
  #assumptions: Assumption[] = [];
  /** Counts changes. */
  version = 0;

  /** @param admin the built-in administrator, who may everything and is never listed */
  constructor(readonly admin: string) {}

  get state(): AclState {
    return structuredClone({
      principals: [...this.#principals.values()],
      grants: this.#grants,
      assumptions: this.#assumptions,
    });
  }

  set state({ principals, grants, assumptions }: AclState) {
    this.#principals.clear();
    for (const principal of structuredClone(principals)) this.#principals.set(key(principal.name), principal);
    this.#grants = [...grants];
    this.#assumptions = [...assumptions];
    this.touch();
  }

  /** Something was changed: principals are changed in place. */
  touch(): void {
    this.version++;
  }

  everybody(): Principal[] {
    return [...this.#principals.values()];
  }

  find(name: string): Principal | undefined {
    return this.#principals.get(key(name));
  }

  /** Principals of a kind, by name. */
  list(kind: PrincipalKind): Principal[] {
    const ofKind = [...this.#principals.values()].filter(principal => principal.kind === kind);
    return ofKind.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  add(principal: Principal): void {
    this.touch();
    this.#principals.set(key(principal.name), principal);
  }

  /** Removes a principal, and what was said of it. */
  remove(name: string): void {
    this.touch();
    this.#principals.delete(key(name));
    for (const { groups } of this.#principals.values()) {
      const index = groups.findIndex(group => same(group, name));
      if (index >= 0) groups.splice(index, 1);
    }
    this.#grants = this.#grants.filter(({ entity }) => !same(entity, name));
    this.#assumptions = this.#assumptions.filter(({ entity, account }) => !same(entity, name) && !same(account, name));
  }

  get grants(): readonly Grant[] {
    return this.#grants;
  }

  get assumptions(): readonly Assumption[] {
    return this.#assumptions;
  }

  /** Adds a grant, in the place of an equal one: its option may differ. A wider one takes in the narrower. */
  grant(grant: Grant): void {
    this.touch();
    this.#grants = this.#grants.filter(
      old => !(same(old.entity, grant.entity) && old.permission === grant.permission && covers(grant, old)),
    );
    const wider = this.#grants.some(
      old =>
        same(old.entity, grant.entity) &&
        old.permission === grant.permission &&
        covers(old, grant) &&
        (old.option || !grant.option),
    );
    if (!wider) this.#grants.push(grant);
  }

  revoke({ entity, permission, ...scope }: Omit<Grant, 'option'>): void {
    this.touch();
    this.#grants = this.#grants.filter(
      old =>
        !(same(old.entity, entity) && (permission === 'ALL' || old.permission === permission) && covers(scope, old)),
    );
  }

  assume(assumption: Assumption): void {
    this.unassume(assumption);
    this.#assumptions.push(assumption);
  }

  unassume({ account, entity }: Omit<Assumption, 'option'>): void {
    this.touch();
    this.#assumptions = this.#assumptions.filter(old => !(same(old.account, account) && same(old.entity, entity)));
  }

  /** Whether somebody has a permission, of their own or by a group. */
  has(name: string, permission: string, scope: Scope, withOption = false): boolean {
    if (same(name, this.admin)) return true;
    return this.#grantsOf(name).some(
      grant =>
        (grant.permission === permission || grant.permission === 'ALL' || grant.permission === 'DATABASE ADMIN') &&
        covers(grant, scope) &&
        (grant.option || !withOption),
    );
  }

  /** Whether somebody may read a column of a table at least. */
  maySee(name: string, table: string): boolean {
    return (
      this.has(name, 'SELECT', { table }) ||
      this.#grantsOf(name).some(grant => grant.permission === 'SELECT' && same(grant.table, table))
    );
  }

  #grantsOf(name: string): Grant[] {
    const names = [name, ...(this.find(name)?.groups ?? [])];
    return this.#grants.filter(({ entity }) => names.some(own => same(own, entity)));
  }
}

/** Whether one scope holds another. */
function covers(wide: Scope, narrow: Scope): boolean {
  if (wide.table === undefined) return true;
  if (narrow.table === undefined) return false;
  if (wide.table !== '*' && !same(wide.table, narrow.table)) return false;
  return wide.column === undefined || same(wide.column, narrow.column);
}
