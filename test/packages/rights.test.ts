/*! Rights: what a principal has equals a naive model's verdict, and a rollback restores exactly what there was. */
import type { Grant, Right } from '@sqlpipe/ddl';
import type { Scope } from '@sqlpipe/ddl/parser';
import { Acl, TransactionLog } from '@sqlpipe/engine';
import { RightSet } from '@sqlpipe/schema';
import { fc, forAll } from '../support/seed.js';
import { test } from '../support/test.js';

const USERS = ['ann', 'Bob'];
const GROUPS = ['ops', 'Desk'];
const ACCOUNTS = ['robot'];
const NAMES = [...USERS, ...GROUPS, ...ACCOUNTS];
const PERMISSIONS = ['SELECT', 'INSERT', 'ALL', 'DATABASE ADMIN'];
const SCOPES: Scope[] = [
  {},
  { table: '*' },
  ...['t', 'u'].flatMap(table => [{ table }, { table, column: 'a' }, { table, column: 'b' }]),
];

const inAnyCase = (names: readonly string[]) =>
  fc.tuple(fc.constantFrom(...names), fc.boolean()).map(([name, upper]) => (upper ? name.toUpperCase() : name));

const scope = fc.constantFrom(...SCOPES, { table: 'T', column: 'A' });
const grant = fc.record({
  kind: fc.constant('grant' as const),
  permission: fc.constantFrom(...PERMISSIONS),
  entity: inAnyCase(NAMES),
  hasGrantOption: fc.boolean(),
  scope,
});
const toGrant = ({ scope, ...rest }: Omit<Grant, keyof Scope> & { scope: Scope }): Grant => ({ ...rest, ...scope });
const assumption = fc.record({
  kind: fc.constant('assumption' as const),
  account: inAnyCase(ACCOUNTS),
  entity: inAnyCase([...USERS, ...GROUPS]),
  hasGrantOption: fc.boolean(),
});
const membership = fc.record({
  kind: fc.constant('membership' as const),
  user: inAnyCase(USERS),
  group: inAnyCase(GROUPS),
});

/** A change of rights. A dropped principal is one that may be created again. */
type Change = { do: 'give' | 'take'; right: Right } | { do: 'drop'; name: string };

const right: fc.Arbitrary<Right> = fc.oneof(
  { arbitrary: grant.map(toGrant), weight: 6 },
  { arbitrary: assumption, weight: 1 },
  { arbitrary: membership, weight: 1 },
);
const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.oneof(
    { arbitrary: right.map((right): Change => ({ do: 'give', right })), weight: 8 },
    { arbitrary: right.map((right): Change => ({ do: 'take', right })), weight: 3 },
    { arbitrary: inAnyCase(NAMES).map((name): Change => ({ do: 'drop', name })), weight: 1 },
  ),
  { maxLength: 25 },
);

const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

const changeAcl = (acl: Acl, change: Change): void => {
  if (change.do === 'drop') acl.apply({ remove: change.name });
  else if (change.do === 'give') acl.apply({ grant: change.right });
  else acl.apply({ revoke: change.right });
};

/** All rights in a list, and each rule as it is documented. */
class Model {
  #rights: Right[] = [];

  change(change: Change): void {
    if (change.do === 'drop') this.#rights = this.#rights.filter(right => !namesIn(right).some(isNamed(change.name)));
    else if (change.do === 'take') this.#rights = this.#rights.filter(right => !isTaken(right, change.right));
    else {
      this.#rights = this.#rights.filter(right => !covers(change.right, right));
      const isIncluded = (right: Right) =>
        covers(right, change.right) && (hasGrantOption(right) || !hasGrantOption(change.right));
      if (!this.#rights.some(isIncluded)) this.#rights.push(change.right);
    }
  }

  has(wanted: Grant): boolean {
    const granted = [wanted.permission, 'DATABASE ADMIN', ...(wanted.permission === 'DATABASE ADMIN' ? [] : ['ALL'])];
    return granted.some(permission => this.#gives({ ...wanted, permission }));
  }

  canRead(name: string, table: string): boolean {
    const columns = [undefined, 'a', 'b'];
    return columns.some(column =>
      this.has({ kind: 'grant', permission: 'SELECT', entity: name, hasGrantOption: false, table, column }),
    );
  }

  canAssume(name: string, account: string, hasGrantOption: boolean): boolean {
    return this.#gives({ kind: 'assumption', account, entity: name, hasGrantOption });
  }

  #gives(wanted: Exclude<Right, { kind: 'membership' }>): boolean {
    const groups = this.#rights.flatMap(right =>
      right.kind === 'membership' && isSame(right.user, wanted.entity) ? right.group : [],
    );
    return [wanted.entity, ...groups].some(entity =>
      this.#rights.some(
        right => covers(right, { ...wanted, entity }) && (hasGrantOption(right) || !wanted.hasGrantOption),
      ),
    );
  }
}

const hasGrantOption = (right: Right): boolean => right.kind !== 'membership' && right.hasGrantOption;

const isNamed = (name: string) => (other: string) => isSame(name, other);

const namesIn = (right: Right): string[] => {
  if (right.kind === 'membership') return [right.user, right.group];
  return right.kind === 'assumption' ? [right.account, right.entity] : [right.entity];
};

const isTaken = (right: Right, taken: Right): boolean =>
  covers(taken, right) ||
  (taken.kind === 'grant' &&
    right.kind === 'grant' &&
    taken.permission === 'ALL' &&
    covers({ ...taken, permission: right.permission }, right));

function covers(wide: Right, narrow: Right): boolean {
  if (wide.kind !== 'grant' || narrow.kind !== 'grant')
    return wide.kind === narrow.kind && namesIn(wide).every((name, i) => isSame(name, namesIn(narrow)[i] ?? ''));
  if (wide.permission !== narrow.permission || !isSame(wide.entity, narrow.entity)) return false;
  if (wide.table === undefined || (wide.table === '*' && narrow.table !== undefined)) return true;
  if (narrow.table === undefined || !isSame(wide.table, narrow.table)) return false;
  return wide.column === undefined || (narrow.column !== undefined && isSame(wide.column, narrow.column));
}

const verdicts = (
  has: (grant: Grant) => boolean,
  canRead: (name: string, table: string) => boolean,
  canAssume: (name: string, account: string, hasGrantOption: boolean) => boolean,
): string[] =>
  NAMES.flatMap(entity => [
    ...[false, true].flatMap(hasGrantOption => [
      ...PERMISSIONS.flatMap(permission =>
        SCOPES.map(scope => {
          const grant: Grant = { kind: 'grant', permission, entity, hasGrantOption, ...scope };
          return `${JSON.stringify(grant)}: ${has(grant)}`;
        }),
      ),
      `${entity} assumes robot, ${hasGrantOption}: ${canAssume(entity, 'robot', hasGrantOption)}`,
    ]),
    ...['t', 'u'].map(table => `${entity} reads ${table}: ${canRead(entity, table)}`),
  ]);

const verdictsOfAcl = (acl: Acl): string[] =>
  verdicts(
    ({ entity, permission, hasGrantOption, table, column }) =>
      acl.hasPermission(entity, permission, { table, column }, { hasGrantOption }),
    (name, table) => acl.canReadPart(name, table),
    (name, account, hasGrantOption) => acl.canAssume(name, account, { hasGrantOption }),
  );

test('what a principal may do equals the verdict of a naive model', t => {
  forAll(100, changes, all => {
    const [acl, model] = [new Acl('admin'), new Model()];
    for (const change of all) {
      changeAcl(acl, change);
      model.change(change);
    }
    t.deepEqual(
      verdictsOfAcl(acl),
      verdicts(
        grant => model.has(grant),
        (name, table) => model.canRead(name, table),
        (name, account, hasGrantOption) => model.canAssume(name, account, hasGrantOption),
      ),
    );
  });
  t.true(new Acl('admin').hasPermission('ADMIN', 'SELECT', { table: 't' }, { hasGrantOption: true }));
});

test('Acl: after a commit, earlier savepoints undo nothing', t => {
  const log = new TransactionLog();
  const acl = new Acl('admin', log);
  const savepoint = log.savepoint();
  acl.apply({ grant: { kind: 'grant', entity: 'ann', permission: 'HTTP', hasGrantOption: false } });
  log.commit();
  log.rollback(savepoint);
  t.true(acl.hasPermission('ann', 'HTTP', {}));
});

test('RightSet: a rollback restores exactly the state of the savepoint, in its order', t => {
  const change = (set: RightSet, change: Change) => {
    if (change.do === 'drop') set.dropPrincipal(change.name);
    else if (change.do === 'give') set.grant(change.right);
    else set.revoke(change.right);
  };
  forAll(200, changes, changes, fc.array(right, { maxLength: 10 }), changes, (before, undone, single, after) => {
    const log = new TransactionLog();
    const [set, other] = [new RightSet([], log), new RightSet()];
    for (const each of before) for (const rights of [set, other]) change(rights, each);
    const savepoint = log.savepoint();
    for (const each of undone) change(set, each);
    for (const each of single) set.add(each);
    for (const each of single.slice(0, 5)) set.delete(each);
    log.rollback(savepoint);
    t.deepEqual([...set], [...other]);
    for (const each of after) for (const rights of [set, other]) change(rights, each);
    t.deepEqual([...set], [...other]);
  });
});

test('RightSet: the grants on a table are those that all rights list, in their order', t =>
  forAll(200, fc.array(right, { maxLength: 25 }), all => {
    const set = new RightSet(all);
    for (const name of ['t', 'U', 'ops', 'robot', '*', 'none']) {
      const listed = [...set].filter(right => right.kind === 'grant' && isSame(right.table ?? '', name));
      t.deepEqual(set.grantsOn(name), listed as Grant[]);
    }
  }));
