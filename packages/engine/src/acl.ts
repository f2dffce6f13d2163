import { type Grant, printRight, printScope, quoteAclName, type Right, sortByScope } from '@sqlpipe/ddl';
import { RejectionError, type Scope } from '@sqlpipe/ddl/parser';
import { RightSet } from '@sqlpipe/schema';
import {
  addToList,
  isPrincipalKind,
  isSameName,
  KINDS,
  type Kind,
  kindKeywords,
  NameMap,
  type PrincipalKind,
  quoteLiteral,
} from '@sqlpipe/sql';
import type { Principal } from './principal.js';
import { type AclChange, TransactionLog } from './transaction-log.js';

/** Users, groups and service accounts, and their rights. */
export class Acl {
  readonly #principals = new NameMap<Principal>();
  readonly #rights: RightSet;
  /** Only the methods of this class change them. */
  readonly rights: Omit<RightSet, 'add' | 'grant' | 'revoke' | 'delete' | 'dropPrincipal'>;

  constructor(
    readonly admin: string,
    private readonly log = new TransactionLog(),
  ) {
    this.rights = this.#rights = new RightSet([], log);
  }

  /** Removing a principal also removes its rights, and the rights of others to be in this group or to assume this account. */
  apply(change: AclChange): void {
    this.log.add({ acl: change });
    if ('put' in change) this.#store(change.put.name, change.put);
    else if ('grant' in change) this.#rights.grant(change.grant);
    else if ('revoke' in change) this.#rights.revoke(change.revoke);
    else {
      this.#store(change.remove, undefined);
      this.#rights.dropPrincipal(change.remove);
    }
  }

  snapshot(): AclChange[] {
    const principals = this.principals().sort(compareNames);
    return [...principals.map(put => ({ put })), ...[...this.#rights].map(grant => ({ grant }))];
  }

  principals(): Principal[] {
    return [...this.#principals.values()];
  }

  find(name: string): Principal | undefined {
    return this.#principals.get(name);
  }

  /** @returns undefined for the built-in administrator @throws RejectionError if there is no such entity */
  requireEntity(name: string, position: number): Principal | undefined {
    const principal = this.find(name);
    if (principal || isSameName(name, this.admin)) return principal;
    throw new RejectionError(position, `entity does not exist [name=${name}]`);
  }

  list(kind: PrincipalKind): Principal[] {
    return this.principals()
      .filter(principal => principal.kind === kind)
      .sort(compareNames);
  }

  /** Unlike a grant, keeps narrower rights. Ignores the membership of an unknown user. */
  loadRight(right: Right): void {
    if (right.kind !== 'membership' || this.find(right.user)) this.#rights.add(right);
  }

  /** @param to the new name of a renamed column, which gets the grants @returns the number of removed grants */
  removeRightsOn(table: string, column?: string, to?: string): number {
    const isRemoved = (grant: Grant) => column === undefined || isSameName(grant.column, column);
    const removed = this.#rights.grantsOn(table).filter(isRemoved);
    for (const grant of removed) this.apply({ revoke: grant });
    if (to !== undefined) for (const grant of removed) this.apply({ grant: { ...grant, column: to } });
    return removed.length;
  }

  /** Rights of groups count, and the administrator has every permission. @param hasGrantOption whether the grant option is required too */
  hasPermission(name: string, permission: string, scope: Scope, { hasGrantOption = false } = {}): boolean {
    return this.#holds(name, entity =>
      this.#rights.allows({ kind: 'grant', permission, ...scope, entity, hasGrantOption }),
    );
  }

  /** Whether a principal may read a table or at least one of its columns. */
  canReadPart(name: string, table: string): boolean {
    const grant = { kind: 'grant', permission: 'SELECT', table, hasGrantOption: false } as const;
    return this.#holds(name, entity => this.#rights.allowsPart({ ...grant, entity }));
  }

  /** @param hasGrantOption whether the principal must also be allowed to let others assume the account */
  canAssume(name: string, account: string, { hasGrantOption = false } = {}): boolean {
    return this.#holds(name, entity => this.#rights.includes({ kind: 'assumption', account, entity, hasGrantOption }));
  }

  #holds(name: string, hasRight: (entity: string) => boolean): boolean {
    return isSameName(name, this.admin) || this.principalAndGroups(name).some(hasRight);
  }

  principalAndGroups(name: string): string[] {
    return [name, ...this.#rights.groupsOf(name)];
  }

  #store(name: string, principal: Principal | undefined): void {
    const replaced = this.#principals.get(name);
    this.log.add({ undo: () => this.#store(name, replaced) });
    if (principal) this.#principals.set(name, principal);
    else this.#principals.delete(name);
  }
}

const compareNames = (a: Principal, b: Principal): number => (a.name < b.name ? -1 : 1);

/** Prints CREATE USER, GROUP and SERVICE ACCOUNT without credentials, as documented: the output of an enterprise server is not public. */
export const printPrincipals = (acl: Acl, kinds: ReadonlySet<Kind>): string[] =>
  KINDS.filter(isPrincipalKind)
    .filter(kind => kinds.has(kind))
    .flatMap(kind => acl.list(kind))
    .map(({ kind, name, alias }) => {
      const clause = alias ? ` WITH EXTERNAL ALIAS ${quoteLiteral(alias)}` : '';
      return `CREATE ${kindKeywords(kind)} ${quoteAclName(name)}${clause};`;
    });

/** Prints memberships, assumptions and grants. In a dump, they come after the objects. */
export function printPermissions(acl: Acl, kinds: ReadonlySet<Kind>): string[] {
  if (!kinds.has('grant')) return [];
  const rights = [...acl.rights];
  const memberships = acl.list('user').flatMap(({ name }) => {
    const groups = acl.rights.groupsOf(name).toSorted().map(quoteAclName).join(', ');
    return groups ? `ADD USER ${quoteAclName(name)} TO ${groups};` : [];
  });
  const assumptions = rights.filter(({ kind }) => kind === 'assumption').map(printRight);
  return [...memberships, ...assumptions.toSorted(), ...printGrants(rights.filter(right => right.kind === 'grant'))];
}

function printGrants(grants: readonly Grant[]): string[] {
  const grantsById = new Map<string, Grant[]>();
  for (const grant of grants) {
    const { entity, table = '', permission, hasGrantOption, column } = grant;
    const id = JSON.stringify([entity, table, permission, hasGrantOption, column === undefined]);
    addToList(grantsById, id, grant);
  }
  const namesByTail = new Map<string, string[]>();
  for (const group of grantsById.values()) {
    const [first] = group;
    if (!first) continue;
    const scoped = group.flatMap(({ column }) => column ?? []);
    const tail = `${printScope(first.table, scoped)} TO ${quoteAclName(first.entity)}${first.hasGrantOption ? ' WITH GRANT OPTION' : ''};`;
    addToList(namesByTail, tail, first.permission);
  }
  const statements = [...namesByTail].map(([tail, names]) => `GRANT ${names.toSorted().join(', ')}${tail}`).toSorted();
  return sortByScope(statements, statement => statement);
}
