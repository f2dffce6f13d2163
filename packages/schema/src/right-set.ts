import { ALL_NAMES, type Grant, type Right } from '@sqlpipe/ddl';
import { NameMap } from '@sqlpipe/sql';

/** One right for each permission, scope and principal, in the order in which they were given. A right on a table includes its columns. */
export class RightSet {
  /** The rights by the names of `pathOf`. */
  readonly #root = new RightNode();
  #next = 0;

  /** @param log records how each change is undone */
  constructor(
    rights: Iterable<Right> = [],
    private readonly log?: { add(entry: { undo: () => void }): void },
  ) {
    for (const right of rights) this.add(right);
  }

  /** Adds a right. A right with the grant option is not replaced by the same right without it. */
  add(right: Right): void {
    const same = this.#find(right);
    if (!same || !hasGrantOption(same.right)) this.#store(right, { right, order: same?.order ?? this.#next++ });
  }

  /** Gives a right as a server does: it replaces the rights that it covers, unless a wider one includes it. */
  grant(right: Right): void {
    for (const covered of this.#findCovered(right)) this.delete(covered);
    if (!this.includes(right)) this.add(right);
  }

  /** Takes a right away as a server does, with those that it covers. ALL takes away all permissions (assumed: even DATABASE ADMIN). */
  revoke(right: Right): void {
    const permissions =
      right.kind === 'grant' && right.permission === 'ALL'
        ? [...this.rightsOf(right.entity)].flatMap(other => (other.kind === 'grant' ? other.permission : []))
        : [];
    const revoked = [right, ...[...new Set(permissions)].map(permission => ({ ...right, permission }) as Right)];
    for (const covered of revoked.flatMap(each => this.#findCovered(each))) this.delete(covered);
  }

  /** Removes the right on exactly this scope, with or without the grant option. */
  delete(right: Right): void {
    this.#store(right, undefined);
  }

  /** Removes the rights of a principal, and the rights to be in it or to act as it. */
  dropPrincipal(principal: string): void {
    const others = [...this.#root.values()].flatMap(rightsOfOther =>
      [MEMBER, ASSUME].flatMap(role => listStored(rightsOfOther.get(role)?.get(principal))),
    );
    for (const right of [...this.rightsOf(principal), ...others.map(stored => stored.right)]) this.delete(right);
  }

  /** Whether these rights include a right, possibly with the grant option or on a wider scope. */
  includes(right: Right): boolean {
    return this.#findCovering(right).some(wider => hasGrantOption(wider) || !hasGrantOption(right));
  }

  /** Whether a permission is allowed: by a grant of it, of ALL, which includes all but DATABASE ADMIN, or of DATABASE ADMIN. */
  allows(grant: Grant): boolean {
    return includingGrants(grant).some(each => this.includes(each));
  }

  /** Whether a permission is allowed on a table or on at least one of its columns. */
  allowsPart(grant: Grant): boolean {
    return includingGrants(grant).some(
      each => this.includes(each) || this.#at(pathOf(each).slice(0, -1)) !== undefined,
    );
  }

  /** Whether exactly this right is stored, with the same grant option: granting it again changes nothing. */
  hasExactly(right: Right): boolean {
    const same = this.#find(right);
    return same !== undefined && hasGrantOption(same.right) === hasGrantOption(right);
  }

  /** Finds the rights that lose their grant option if this right is granted: a server stores the option of the latest statement. */
  findLostOptions(right: Right): Right[] {
    if (hasGrantOption(right) || this.#findCovering(right, true).some(hasGrantOption)) return [];
    return this.#findCovered(right).filter(hasGrantOption);
  }

  /** The rights of one principal, without those of its groups. */
  *rightsOf(principal: string): Generator<Right> {
    yield* inOrder(listStored(this.#root.get(principal)));
  }

  groupsOf(user: string): string[] {
    const memberships = inOrder(listStored(this.#at([user, MEMBER])));
    return memberships.flatMap(right => (right.kind === 'membership' ? right.group : []));
  }

  /** The grants on one table or view, and on its columns. */
  grantsOn(table: string): Grant[] {
    const nodes = [...this.#root.values()].flatMap(rightsOfOne => [...rightsOfOne.values()]);
    const rights = inOrder(nodes.flatMap(node => listStored(node.get(table))));
    return rights.filter(right => right.kind === 'grant'); // a group, too, is stored under its name
  }

  *[Symbol.iterator](): Generator<Right> {
    yield* inOrder(listStored(this.#root));
  }

  #at(path: readonly string[]): RightNode | undefined {
    return path.reduce<RightNode | undefined>((node, name) => node?.get(name), this.#root);
  }

  #find(right: Right): StoredRight | undefined {
    return this.#at(pathOf(right))?.stored;
  }

  /** Finds the rights that include a right. @param onlyWider whether the right on the same scope is omitted */
  #findCovering(right: Right, onlyWider = false): Right[] {
    const [entity, permissionOrRole, onWhat] = pathOf(right);
    const isOnTable = right.kind === 'grant' && onWhat !== NO_NAME;
    const names = isOnTable ? [onWhat, ALL_NAMES, NO_NAME] : [onWhat]; // the table, all tables, the database
    const scopes = this.#at([entity, permissionOrRole]);
    const wider = names.map(name => scopes?.get(name)?.get(NO_NAME)?.stored);
    const same = this.#find(right);
    const covering = new Set([same, ...wider]);
    if (onlyWider) covering.delete(same);
    return [...covering].flatMap(stored => stored?.right ?? []);
  }

  /** Finds the rights on the same scope and on those that it contains. */
  #findCovered(right: Right): Right[] {
    const [entity, permissionOrRole, onWhat, column] = pathOf(right);
    const isOnManyTables = right.kind === 'grant' && (onWhat === NO_NAME || onWhat === ALL_NAMES);
    const node = this.#at([entity, permissionOrRole]);
    const [scope, name] = isOnManyTables ? [node, onWhat] : [node?.get(onWhat), column];
    const parts = [...(scope ?? [])].flatMap(([part, child]) => (part === NO_NAME ? [] : child));
    const covered = name === NO_NAME ? [scope] : name === ALL_NAMES ? parts : [scope?.get(name)];
    return covered.flatMap(listStored).map(stored => stored.right);
  }

  /** Stores a right, or removes it. */
  #store(right: Right, stored: StoredRight | undefined): void {
    const replaced = this.#find(right);
    if (replaced === stored) return;
    this.log?.add({ undo: () => this.#store(right, replaced) });
    storeAt(this.#root, pathOf(right), stored);
  }
}

interface StoredRight {
  readonly right: Right;
  readonly order: number;
}

class RightNode extends NameMap<RightNode> {
  stored: StoredRight | undefined;
}

/** Empty nodes do not stay. */
function storeAt(node: RightNode, [name = NO_NAME, ...rest]: readonly string[], stored: StoredRight | undefined): void {
  const child = node.get(name) ?? new RightNode();
  if (rest.length > 0) storeAt(child, rest, stored);
  else child.stored = stored;
  if (child.stored || child.size > 0) node.set(name, child);
  else node.delete(name);
}

/** Lists what is stored at a node and below it. */
const listStored = (node: RightNode | undefined): StoredRight[] =>
  node ? [...(node.stored ? [node.stored] : []), ...[...node.values()].flatMap(listStored)] : [];

const inOrder = (stored: StoredRight[]): Right[] => stored.sort((a, b) => a.order - b.order).map(({ right }) => right);

const hasGrantOption = (right: Right): boolean => right.kind !== 'membership' && right.hasGrantOption;

const includingGrants = (grant: Grant): Grant[] =>
  grant.permission === 'DATABASE ADMIN'
    ? [grant]
    : [grant.permission, 'ALL', 'DATABASE ADMIN'].map(permission => ({ ...grant, permission }));

/** In place of a table: the database. In place of a column: the whole table, or what has no columns. */
const NO_NAME = '';

/** In place of a permission. No permission has parentheses. */
const [MEMBER, ASSUME] = ['(member of)', '(assume)'];

/** The names of the nodes above a stored right. `onWhat` is a group, a service account or a table. */
function pathOf(right: Right): readonly [entity: string, permissionOrRole: string, onWhat: string, column: string] {
  if (right.kind === 'membership') return [right.user, MEMBER, right.group, NO_NAME];
  if (right.kind === 'assumption') return [right.entity, ASSUME, right.account, NO_NAME];
  const { entity, permission, table = NO_NAME, column = NO_NAME } = right;
  return [entity, permission, table, column];
}
