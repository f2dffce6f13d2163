/*! Users, groups and service accounts (the principals), and their rights: stored, changed, undone and printed as statements. */
import {
  formatScope,
  type Grant,
  printRight,
  quotePrincipal,
  type Right,
  RightSet,
  sortByScope,
  UndoLog,
} from '@sqlpipe/ddl';
import { RejectionError, type Scope } from '@sqlpipe/ddl/grammar';
import { foldCase, isPrincipal, isSameName, KINDS, type Kind, type PrincipalKind, quoteLiteral } from '@sqlpipe/sql';

/** What is stored of a REST token. */
export interface StoredToken {
  readonly digest: string;
  /** When the token expires, in milliseconds since the epoch. */
  readonly expires: number;
  /** The lifetime in milliseconds that each login renews; only for tokens that were created with REFRESH. */
  readonly refresh?: number | undefined;
}

/** Makes what is stored of passwords and tokens. */
export interface Secrets {
  /** @throws NotReady while the hash is computed */
  hashPassword(password: string): string;
  generateToken(lifetime: number, refresh: boolean): { token: string; stored: StoredToken };
  digest(token: string): string;
}

/** A user, a group or a service account. */
export interface Principal {
  readonly kind: PrincipalKind;
  readonly name: string;
  readonly password?: string | undefined;
  readonly tokens: readonly StoredToken[];
  readonly disabled?: boolean;
  /** Groups only: their name outside of the database. */
  readonly alias?: string | undefined;
}

/** One change that a statement made, as it is written to the journal. */
export type AclChange =
  | { readonly put: Principal }
  | { readonly remove: string }
  | { readonly grant: Right }
  | { readonly revoke: Right };

/** The principals and their rights. */
export class Acl {
  readonly #principals = new Map<string, Principal>();
  /** To be changed by `grant` and `revoke`, which record what they change. */
  readonly rights: RightSet;
  #changes: AclChange[] = [];

  /** @param admin the built-in administrator, who has every permission */
  constructor(
    readonly admin: string,
    private readonly log = new UndoLog(),
  ) {
    this.rights = new RightSet([], log);
  }

  /** The changes since the last call of `takeChanges`, in order. */
  get changes(): readonly AclChange[] {
    return this.#changes;
  }

  /** Returns the changes since the last call, which can no longer be undone. */
  takeChanges(): AclChange[] {
    const changes = this.#changes;
    this.#changes = [];
    this.log.commit();
    return changes;
  }

  replay(change: AclChange): void {
    if ('put' in change) this.put(change.put);
    else if ('remove' in change) this.remove(change.remove);
    else if ('grant' in change) this.grant(change.grant);
    else this.revoke(change.revoke);
    this.takeChanges();
  }

  snapshotChanges(): AclChange[] {
    return [
      ...this.principals()
        .sort(byName)
        .map(put => ({ put })),
      ...[...this.rights].map(grant => ({ grant })),
    ];
  }

  principals(): Principal[] {
    return [...this.#principals.values()];
  }

  find(name: string): Principal | undefined {
    return this.#principals.get(foldCase(name));
  }

  /** The principal of that name; undefined for the administrator. @throws RejectionError if there is none */
  requireEntity(name: string, position: number): Principal | undefined {
    const principal = this.find(name);
    if (principal || isSameName(name, this.admin)) return principal;
    throw new RejectionError(position, `entity does not exist [name=${name}]`);
  }

  list(kind: PrincipalKind): Principal[] {
    return this.principals()
      .filter(principal => principal.kind === kind)
      .sort(byName);
  }

  /** Adds a principal, or replaces the one of the same name. */
  put(principal: Principal): void {
    this.#record({ put: principal });
    this.#store(principal.name, principal);
  }

  /** Removes a principal with its memberships, grants and assumptions. */
  remove(name: string): void {
    this.#record({ remove: name });
    this.#store(name, undefined);
    this.rights.drop(name);
  }

  /** Gives a right. It replaces an equal one, whose option may differ, and narrower ones; a wider one includes it. */
  grant(right: Right): void {
    this.#record({ grant: right });
    this.rights.grant(right);
  }

  /** Takes a right away, with or without the grant option. */
  revoke(right: Right): void {
    this.#record({ revoke: right });
    this.rights.revoke(right);
  }

  /** Adds a right as a dump has it. A membership of an unknown user has no effect. */
  load(right: Right): void {
    if (right.kind !== 'membership' || this.find(right.user)) this.rights.add(right);
  }

  /** Removes the grants on a table, or on one of its columns; those on a renamed column move with it. @returns how many there were */
  removeRightsOn(table: string, column?: string, to?: string): number {
    const removed = [...this.rights]
      .filter(right => right.kind === 'grant')
      .filter(grant => isSameName(grant.table, table) && (column === undefined || isSameName(grant.column, column)));
    for (const grant of removed) this.revoke(grant);
    if (to !== undefined) for (const grant of removed) this.grant({ ...grant, column: to });
    return removed.length;
  }

  /** Whether a principal or one of its groups has a permission; with `option`, whether it may pass it on. */
  has(name: string, permission: string, scope: Scope, option = false): boolean {
    return this.#holds(name, entity => this.rights.allows({ kind: 'grant', permission, ...scope, entity, option }));
  }

  /** Whether a principal may read at least one column of a table. */
  canRead(name: string, table: string): boolean {
    const read = { kind: 'grant', permission: 'SELECT', table, option: false } as const;
    return this.#holds(name, entity => this.rights.allowsPart({ ...read, entity }));
  }

  /** Whether a principal or one of its groups may assume an account; with `option`, whether it may let others do so. */
  canAssume(name: string, account: string, option = false): boolean {
    return this.#holds(name, entity => this.rights.has({ kind: 'assumption', account, entity, option }));
  }

  #holds(name: string, isHolder: (entity: string) => boolean): boolean {
    return isSameName(name, this.admin) || this.namesWithGroups(name).some(isHolder);
  }

  namesWithGroups(name: string): string[] {
    return [name, ...this.rights.groupsOf(name)];
  }

  #record(change: AclChange): void {
    this.#changes.push(change);
    this.log.record(() => this.#changes.pop());
  }

  #store(name: string, principal: Principal | undefined): void {
    const id = foldCase(name);
    const replaced = this.#principals.get(id);
    this.log.record(() => this.#store(name, replaced));
    if (principal) this.#principals.set(id, principal);
    else this.#principals.delete(id);
  }
}

const byName = (a: Principal, b: Principal): number => (a.name < b.name ? -1 : 1);

/**
 * CREATE USER, GROUP and SERVICE ACCOUNT, without credentials: the statements that precede the objects. The rows of an enterprise server
 * are not public, so these and the following are the documented statements. Replayed in their order, they print the same rows.
 */
export const formatPrincipals = (acl: Acl, kinds: ReadonlySet<Kind>): string[] =>
  KINDS.filter(isPrincipal)
    .filter(kind => kinds.has(kind))
    .flatMap(kind => acl.list(kind))
    .map(({ kind, name, alias }) => {
      const clause = alias ? ` WITH EXTERNAL ALIAS ${quoteLiteral(alias)}` : '';
      return `CREATE ${kind.toUpperCase()} ${quotePrincipal(name)}${clause};`;
    });

/** Memberships, assumptions and grants: the statements that follow the objects. */
export function formatPermissions(acl: Acl, kinds: ReadonlySet<Kind>): string[] {
  if (!kinds.has('grant')) return [];
  const rights = [...acl.rights];
  const members = acl.list('user').map(({ name }) => ({ name, groups: acl.rights.groupsOf(name) }));
  return [
    ...members
      .filter(({ groups }) => groups.length > 0)
      .map(
        ({ name, groups }) =>
          `ADD USER ${quotePrincipal(name)} TO ${groups.toSorted().map(quotePrincipal).join(', ')};`,
      ),
    ...rights
      .filter(({ kind }) => kind === 'assumption')
      .map(printRight)
      .toSorted(),
    ...formatGrants(rights.filter(right => right.kind === 'grant')),
  ];
}

/** One GRANT for each entity, scope and option, with all its permissions. */
function formatGrants(grants: readonly Grant[]): string[] {
  const columns = new Map<string, Grant[]>();
  for (const grant of grants) {
    const { entity, table = '', permission, option, column } = grant;
    const id = JSON.stringify([entity, table, permission, option, column === undefined]);
    columns.set(id, [...(columns.get(id) ?? []), grant]);
  }
  const permissions = new Map<string, string[]>();
  for (const group of columns.values()) {
    const [first] = group;
    if (!first) continue;
    const scoped = group.flatMap(({ column }) => column ?? []);
    const tail = `${formatScope(first.table, scoped)} TO ${quotePrincipal(first.entity)}${first.option ? ' WITH GRANT OPTION' : ''};`;
    permissions.set(tail, [...(permissions.get(tail) ?? []), first.permission]);
  }
  const statements = [...permissions].map(([tail, names]) => `GRANT ${names.toSorted().join(', ')}${tail}`).toSorted();
  return sortByScope(statements, statement => statement);
}
