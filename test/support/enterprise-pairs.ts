/*! Random schemas of the enterprise edition, and what somebody may have made of each: those of `schemaPair` with access control. */
import {
  type Age,
  type Definition,
  printDefinition,
  type StoragePolicy,
  type TableDefinition,
  tryParseDefinition,
} from '@sqlpipe/ddl';
import { type Randomness, randomness, type SchemaPair, schemaPair } from './schema-pairs.js';

interface Principal {
  readonly kind: 'USER' | 'GROUP' | 'SERVICE ACCOUNT';
  readonly name: string;
  readonly alias?: string;
}

/** On objects, each with some of its columns or as a whole. */
interface Grant {
  readonly permissions: readonly string[];
  /** None: on the database. */
  readonly scopes: 'ALL TABLES' | readonly { readonly object: string; readonly columns: readonly string[] }[];
  readonly entity: string;
  readonly option: boolean;
}

interface Access {
  readonly principals: readonly Principal[];
  readonly memberships: readonly { readonly user: string; readonly group: string }[];
  readonly assumptions: readonly { readonly account: string; readonly entity: string; readonly option: boolean }[];
  readonly grants: readonly Grant[];
  readonly owners: ReadonlyMap<string, string>;
  readonly policies: ReadonlyMap<string, StoragePolicy>;
}

const PRINCIPALS: readonly Principal[] = [
  { kind: 'USER', name: 'ann' },
  { kind: 'USER', name: 'bob' },
  { kind: 'USER', name: 'eva müller' },
  { kind: 'GROUP', name: 'staff' },
  { kind: 'GROUP', name: 'select' },
  { kind: 'SERVICE ACCOUNT', name: 'app' },
  { kind: 'SERVICE ACCOUNT', name: 'my app' },
];
const ON_TABLES = ['SELECT', 'INSERT', 'UPDATE', 'ALL', 'DROP TABLE', 'ADD COLUMN'];
const ON_COLUMNS = ['SELECT', 'UPDATE', 'ALTER COLUMN TYPE'];
const ON_DATABASE = ['SELECT', 'HTTP', 'PGWIRE', 'CREATE TABLE', 'LIST USERS', 'ALL'];

const quote = (name: string): string => (/^\w+$/.test(name) && name !== 'select' ? name : `"${name}"`);

const some = <T>(items: readonly T[], share: number, random: Randomness): T[] =>
  items.filter(() => random.chance(share));

/** The pair of a seed; `before` and `after` begin with principals and end with rights. */
export function enterprisePair(seed: number): SchemaPair {
  const pair = schemaPair(seed);
  const random = randomness(seed ^ 0xacce55);
  const [there, wanted] = [pair.before.map(read), pair.after.map(read)];
  const access = newAccess(there, random);
  const later = mix(follow(access, pair, wanted), newAccess(wanted, random), random);
  return { ...pair, before: print(there, access), after: print(wanted, later) };
}

function read(statement: string): Definition {
  const definition = tryParseDefinition(statement);
  if (!definition) throw new Error(`not a definition: ${statement}`);
  return definition;
}

function newAccess(objects: readonly Definition[], random: Randomness): Access {
  const principals = some(PRINCIPALS, 0.7, random).map(each =>
    each.kind === 'GROUP' && random.chance(0.3) ? { ...each, alias: `${each.name} elsewhere` } : each,
  );
  const names = (kind: Principal['kind']) => principals.filter(each => each.kind === kind).map(({ name }) => name);
  const users = names('USER');
  return {
    principals,
    memberships: users.flatMap(user => some(names('GROUP'), 0.5, random).map(group => ({ user, group }))),
    assumptions: names('SERVICE ACCOUNT').flatMap(account =>
      some(users, 0.4, random).map(entity => ({ account, entity, option: random.chance(0.3) })),
    ),
    grants: Array.from({ length: random.below(8) }, () => newGrant(principals, objects, random)).filter(
      grant => grant !== undefined,
    ),
    owners: new Map(
      principals.length === 0
        ? []
        : some(objects, 0.3, random).map(({ name }) => [name, random.pick(principals).name] as const),
    ),
    policies: new Map(
      some(objects.filter(isPartitioned), 0.5, random).map(table => [table.name, newPolicy(table, random)] as const),
    ),
  };
}

const isPartitioned = (definition: Definition): definition is TableDefinition =>
  definition.kind === 'table' && definition.partitionBy !== 'NONE';

const WEEK = 168;

/** Whether a server takes a number of hours, or of months if it is negative, for partitions of that length. */
const canLast = (length: Age, partitionBy: TableDefinition['partitionBy'] | undefined): boolean =>
  partitionBy === 'MONTH' ? length < 0 : partitionBy === 'WEEK' ? length % WEEK === 0 : partitionBy !== undefined;

function newPolicy({ partitionBy }: TableDefinition, random: Randomness): StoragePolicy {
  const lengths = [24, 72, WEEK, 2 * WEEK, -1, -2, -12].filter(each => canLast(each, partitionBy));
  const length = () => random.pick(lengths);
  // A stage cannot be later than what drops the partition.
  const hours = (ttl: Age) => (ttl < 0 ? -ttl * 31 * 24 : ttl);
  const [first = 0, second = 0, last = 0] = [length(), length(), length()].sort((a, b) => hours(a) - hours(b));
  return {
    after: {
      ...(random.chance(0.5) && { 'TO PARQUET': first }),
      ...(random.chance(0.3) && { 'TO REMOTE': second }),
      'DROP LOCAL': last,
    },
  };
}

function newGrant(
  principals: readonly Principal[],
  objects: readonly Definition[],
  random: Randomness,
): Grant | undefined {
  const entity = random.pick(principals)?.name;
  if (entity === undefined) return undefined;
  const option = random.chance(0.3);
  if (objects.length === 0 || random.chance(0.15))
    return { permissions: permissions(ON_DATABASE, random), scopes: [], entity, option };
  if (random.chance(0.15)) return { permissions: permissions(ON_TABLES, random), scopes: 'ALL TABLES', entity, option };
  const chosen = [random.pick(objects), random.pick(objects)].slice(0, 1 + random.below(2)).map(object => ({
    object: object.name,
    columns:
      object.kind === 'table' && random.chance(0.5)
        ? some(
            object.columns.map(({ name }) => name),
            0.5,
            random,
          )
        : [],
  }));
  const ofColumns = chosen.filter(({ columns }) => columns.length > 0);
  const isOfColumns = ofColumns.length > 0;
  const scopes = isOfColumns ? ofColumns : chosen;
  return { permissions: permissions(isOfColumns ? ON_COLUMNS : ON_TABLES, random), scopes, entity, option };
}

function permissions(from: readonly string[], random: Randomness): string[] {
  const chosen = some(from, 0.4, random);
  return chosen.length > 0 ? chosen : [random.pick(from)];
}

/** The same access to what has another name now, and none to what is gone. */
function follow(access: Access, { names }: SchemaPair, wanted: readonly Definition[]): Access {
  const renamed = (name: string) => names.get(name)?.name ?? name;
  const find = (name: string) => wanted.find(each => each.name === renamed(name));
  const entries = <T>(map: ReadonlyMap<string, T>) =>
    [...map].flatMap(([name, value]) => (find(name) ? [[renamed(name), value] as const] : []));
  const grants = access.grants.flatMap((grant): Grant[] => {
    if (grant.scopes === 'ALL TABLES' || grant.scopes.length === 0) return [grant];
    const scopes = grant.scopes.flatMap(({ object, columns }) => {
      const now = find(object);
      const there = now?.kind === 'table' ? now.columns.map(({ name }) => name) : [];
      const left = columns
        .map(column => names.get(object)?.columns.get(column) ?? column)
        .filter(column => there.includes(column));
      return !now || (columns.length > 0 && left.length === 0) ? [] : [{ object: now.name, columns: left }];
    });
    return scopes.length > 0 ? [{ ...grant, scopes }] : [];
  });
  const tables = new Map(wanted.filter(isPartitioned).map(table => [table.name, table.partitionBy]));
  const policies = entries(access.policies).filter(([name, { after }]) =>
    Object.values(after).every(length => canLast(length, tables.get(name))),
  );
  return { ...access, grants, owners: new Map(entries(access.owners)), policies: new Map(policies) };
}

/** Most of what there was, and some of something else, as far as its principals are there. */
function mix(was: Access, other: Access, random: Randomness): Access {
  const most = <T>(items: Iterable<T>) => some([...items], 0.8, random);
  const few = <T>(items: Iterable<T>) => some([...items], 0.3, random);
  const all = [...few(other.principals), ...most(was.principals)];
  const principals = all.filter(({ name }, i) => all.findIndex(each => each.name === name) === i);
  const isThere = (...names: readonly string[]) => names.every(name => principals.some(each => each.name === name));
  // No server keeps one right with the grant option and without: the last one counts.
  const assumptions = new Map(
    [...most(was.assumptions), ...few(other.assumptions)].map(each => [`${each.account} ${each.entity}`, each]),
  );
  return {
    principals,
    memberships: [...most(was.memberships), ...few(other.memberships)].filter(each => isThere(each.user, each.group)),
    assumptions: [...assumptions.values()].filter(each => isThere(each.account, each.entity)),
    grants: [...most(was.grants), ...few(other.grants)].filter(each => isThere(each.entity)),
    owners: new Map([...was.owners, ...few(other.owners)].filter(([, owner]) => isThere(owner))),
    policies: new Map([...most(was.policies), ...few(other.policies)]),
  };
}

function print(objects: readonly Definition[], access: Access): string[] {
  const { principals, memberships, assumptions, grants, owners, policies } = access;
  const option = (has: boolean) => (has ? ' WITH GRANT OPTION' : '');
  return [
    ...principals.map(
      ({ kind, name, alias }) =>
        `CREATE ${kind} ${quote(name)}${alias === undefined ? '' : ` WITH EXTERNAL ALIAS '${alias}'`};`,
    ),
    ...objects.map(object => printDefinition(withAccess(object, owners.get(object.name), policies), { quoted: true })),
    ...memberships.map(({ user, group }) => `ADD USER ${quote(user)} TO ${quote(group)};`),
    ...assumptions.map(
      each => `GRANT ASSUME SERVICE ACCOUNT ${quote(each.account)} TO ${quote(each.entity)}${option(each.option)};`,
    ),
    ...inOrder(grants).map(
      grant =>
        `GRANT ${grant.permissions.join(', ')}${printScopes(grant.scopes)} TO ${quote(grant.entity)}${option(grant.option)};`,
    ),
  ];
}

/** Such that none takes a grant option away that another one gives: those on more first, those without the option first. */
function inOrder(grants: readonly Grant[]): Grant[] {
  const breadth = ({ scopes }: Grant): number => {
    if (scopes === 'ALL TABLES') return 2;
    if (scopes.length === 0) return 3;
    return scopes.some(({ columns }) => columns.length > 0) ? 0 : 1;
  };
  return grants.toSorted((one, other) => breadth(other) - breadth(one) || Number(one.option) - Number(other.option));
}

const withAccess = (object: Definition, owner: string | undefined, policies: Access['policies']): Definition => {
  const policy = policies.get(object.name);
  return { ...object, ...(owner !== undefined && { owner }), ...(policy && { ttl: 0, policy }) };
};

function printScopes(scopes: Grant['scopes']): string {
  if (scopes === 'ALL TABLES') return ' ON ALL TABLES';
  const list = scopes.map(
    ({ object, columns }) => `${quote(object)}${columns.length > 0 ? `(${columns.map(quote).join(', ')})` : ''}`,
  );
  return list.length > 0 ? ` ON ${list.join(', ')}` : '';
}
