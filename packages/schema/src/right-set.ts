import { ALL_NAMES, type Grant, type Right } from '@sqlpipe/ddl';
import { NameMap } from '@sqlpipe/sql';

/** One right for each permission, scope and principal, in the order in which they were given. A right on a table includes its columns. */
export class RightSet {
  readonly #rights = new NameMap<Subjects>();
  #next = 0;

  /** @param log records how each change is undone */
  constructor(
    rights: Iterable<Right> = [],
    private readonly log?: { recordUndo(undo: () => void): void },
  ) {
    for (const right of rights) this.add(right);
  }

  /** Adds a right. A right with the grant option is not replaced by the same right without it. */
  add(right: Right): void {
    const key = rightKey(right);
    const same = this.#find(key);
    if (!same || !hasOption(same.right)) this.#store(key, { right, order: same?.order ?? this.#next++ });
  }

  /** Gives a right as a server does: it replaces the rights that it covers, unless a wider one includes it. */
  grant(right: Right): void {
    for (const covered of this.#findCovered(right)) this.delete(covered);
    if (!this.includes(right)) this.add(right);
  }

  /** Takes a right away as a server does, with those that it covers. ALL takes away every permission. */
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
    this.#store(rightKey(right), undefined);
  }

  /** Removes the rights of a principal, and the rights to be in it or to act as it. */
  dropPrincipal(principal: string): void {
    const others = [...this.#rights.values()].flatMap(subjects =>
      [MEMBER, ASSUME].flatMap(subject => listStored(subjects.get(subject)?.get(principal))),
    );
    for (const right of [...this.rightsOf(principal), ...others.map(stored => stored.right)]) this.delete(right);
  }

  /** Whether these rights include a right, possibly with the grant option or on a wider scope. */
  includes(right: Right): boolean {
    return this.#findCovering(right).some(wider => hasOption(wider) || !hasOption(right));
  }

  /** Whether a permission is allowed: by a grant of it, of ALL, which includes all but DATABASE ADMIN, or of DATABASE ADMIN. */
  allows(grant: Grant): boolean {
    return includingGrants(grant).some(each => this.includes(each));
  }

  /** Whether a permission is allowed on a table or on at least one of its columns. */
  allowsPart(grant: Grant): boolean {
    return includingGrants(grant).some(each => this.includes(each) || this.#tableOf(rightKey(each)) !== undefined);
  }

  /** Whether exactly this right is stored, with the same grant option: granting it again changes nothing. */
  hasExactly(right: Right): boolean {
    const same = this.#find(rightKey(right));
    return same !== undefined && hasOption(same.right) === hasOption(right);
  }

  /** Finds the rights that lose their grant option if this right is granted: a server stores the option of the latest statement. */
  findLostOptions(right: Right): Right[] {
    if (hasOption(right) || this.#findCovering(right, true).some(hasOption)) return [];
    return this.#findCovered(right).filter(hasOption);
  }

  /** The rights of one principal, without those of its groups. */
  *rightsOf(principal: string): Generator<Right> {
    yield* inOrder(listSubjects(this.#rights.get(principal)));
  }

  groupsOf(user: string): string[] {
    const memberships = [...(this.#rights.get(user)?.get(MEMBER)?.values() ?? [])].flatMap(listStored);
    return inOrder(memberships).flatMap(right => (right.kind === 'membership' ? right.group : []));
  }

  /** The grants on one table or view, and on its columns. */
  grantsOn(table: string): Grant[] {
    const subjects = [...this.#rights.values()].flatMap(each => [...each.values()]);
    const rights = inOrder(subjects.flatMap(tables => listStored(tables.get(table))));
    return rights.filter(right => right.kind === 'grant'); // a group, too, is stored under its name
  }

  *[Symbol.iterator](): Generator<Right> {
    yield* inOrder([...this.#rights.values()].flatMap(listSubjects));
  }

  /** Finds the rights that include a right. @param onlyWider whether the right on the same scope is omitted */
  #findCovering(right: Right, onlyWider = false): Right[] {
    const key = rightKey(right);
    const { table, column } = key;
    const isTable = right.kind === 'grant' && table !== DATABASE;
    const including = [
      ...(onlyWider ? [] : [key]),
      ...(column === WHOLE_TABLE ? [] : [{ ...key, column: WHOLE_TABLE }]),
      ...(isTable && table !== ALL_NAMES ? [{ ...key, table: ALL_NAMES, column: WHOLE_TABLE }] : []),
      ...(isTable ? [{ ...key, table: DATABASE, column: WHOLE_TABLE }] : []),
    ];
    return including.flatMap(each => this.#find(each)?.right ?? []);
  }

  #findCovered(right: Right): Right[] {
    const key = rightKey(right);
    const { table, column } = key;
    const isAny = right.kind === 'grant' && (table === DATABASE || table === ALL_NAMES);
    if (isAny) {
      const tables = [...(this.#rights.get(key.entity)?.get(key.subject) ?? [])];
      const covered = tables.filter(([other]) => table === DATABASE || other !== DATABASE);
      return covered.flatMap(([, columns]) => listStored(columns).map(stored => stored.right));
    }
    if (column === WHOLE_TABLE || column === ALL_NAMES)
      return [...(this.#tableOf(key) ?? [])].flatMap(([other, stored]) =>
        column === ALL_NAMES && other === WHOLE_TABLE ? [] : stored.right,
      );
    const same = this.#find(key);
    return same ? [same.right] : [];
  }

  #tableOf({ entity, subject, table }: Key): GrantedColumns | undefined {
    return this.#rights.get(entity)?.get(subject)?.get(table);
  }

  #find(key: Key): StoredRight | undefined {
    return this.#tableOf(key)?.get(key.column);
  }

  /** Stores a right, or removes it. Empty maps do not stay. */
  #store(key: Key, stored: StoredRight | undefined): void {
    const replaced = this.#find(key);
    if (replaced === stored) return;
    this.log?.recordUndo(() => this.#store(key, replaced));
    const subjects: Subjects = this.#rights.get(key.entity) ?? new Map();
    const tables: Tables = subjects.get(key.subject) ?? new NameMap();
    const columns: GrantedColumns = tables.get(key.table) ?? new NameMap();
    setOrPrune(columns, key.column, stored);
    setOrPrune(tables, key.table, columns.size > 0 ? columns : undefined);
    setOrPrune(subjects, key.subject, tables.size > 0 ? tables : undefined);
    setOrPrune(this.#rights, key.entity, subjects.size > 0 ? subjects : undefined);
  }
}

interface StoredRight {
  readonly right: Right;
  readonly order: number;
}

type GrantedColumns = NameMap<StoredRight>;
type Tables = NameMap<GrantedColumns>;
type Subjects = Map<string, Tables>;

function setOrPrune<V>(map: Map<string, V>, key: string, value: V | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

const listStored = (columns: GrantedColumns | undefined): StoredRight[] => [...(columns?.values() ?? [])];

const listSubjects = (subjects: Subjects | undefined): StoredRight[] =>
  [...(subjects?.values() ?? [])].flatMap(tables => [...tables.values()].flatMap(listStored));

const inOrder = (stored: StoredRight[]): Right[] => stored.sort((a, b) => a.order - b.order).map(({ right }) => right);

const hasOption = (right: Right): boolean => right.kind !== 'membership' && right.option;

const includingGrants = (grant: Grant): Grant[] =>
  grant.permission === 'DATABASE ADMIN'
    ? [grant]
    : [grant.permission, 'ALL', 'DATABASE ADMIN'].map(permission => ({ ...grant, permission }));

/** Keys that are not the name of a table or a column. */
const [DATABASE, WHOLE_TABLE] = ['', ''];

/** What is given: a permission in upper case, or one of these. */
const [MEMBER, ASSUME] = ['member', 'assume'];

/** Where a right is stored: the entity, what is given, and the scope. */
interface Key {
  readonly entity: string;
  readonly subject: string;
  readonly table: string;
  readonly column: string;
}

function rightKey(right: Right): Key {
  if (right.kind === 'membership')
    return { entity: right.user, subject: MEMBER, table: right.group, column: WHOLE_TABLE };
  const { entity } = right;
  if (right.kind === 'assumption') return { entity, subject: ASSUME, table: right.account, column: WHOLE_TABLE };
  const { permission, table = DATABASE, column = WHOLE_TABLE } = right;
  return { entity, subject: permission, table, column };
}
