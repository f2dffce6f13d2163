/*!
 * Access control as statements. The exact rows of an enterprise server are not public. These are the documented
 * statements, with names quoted only if necessary, in an order in which they can be replayed and give the same rows.
 */
import { sortByScope } from '@sqlpipe/ddl';
import { isReserved } from '@sqlpipe/ddl/grammar';
import type { Acl, Grant, PrincipalKind } from './acl.js';

/** The name, in double quotes if they are necessary. */
export const quoteEntity = (name: string): string =>
  /^[\p{L}_][\p{L}\d_]*$/u.test(name) && !isReserved(name) ? name : `"${name}"`;

const kinds: readonly (readonly [category: string, kind: PrincipalKind])[] = [
  ['USERS', 'user'],
  ['GROUPS', 'group'],
  ['SERVICE_ACCOUNTS', 'service account'],
];

/** CREATE USER, GROUP and SERVICE ACCOUNT, without credentials: the statements that precede the objects. */
export function formatPrincipals(acl: Acl, categories: ReadonlySet<string>): string[] {
  return kinds.flatMap(([category, kind]) =>
    categories.has(category)
      ? acl
          .list(kind)
          .map(
            ({ name, alias }) =>
              `CREATE ${kind.toUpperCase()} ${quoteEntity(name)}${alias ? ` WITH EXTERNAL ALIAS '${alias.replaceAll("'", "''")}'` : ''};`,
          )
      : [],
  );
}

/** Memberships, assumptions and grants: the statements that follow the objects. */
export function formatPermissions(acl: Acl, categories: ReadonlySet<string>): string[] {
  if (!categories.has('PERMISSIONS')) return [];
  const members = acl.list('user').filter(({ groups }) => groups.length > 0);
  return [
    ...members.map(
      ({ name, groups }) => `ADD USER ${quoteEntity(name)} TO ${groups.toSorted().map(quoteEntity).join(', ')};`,
    ),
    ...acl.assumptions
      .map(
        ({ account, entity, option }) =>
          `GRANT ASSUME SERVICE ACCOUNT ${quoteEntity(account)} TO ${quoteEntity(entity)}${formatOption(option)};`,
      )
      .toSorted(),
    ...formatGrants(acl.grants),
  ];
}

/** One GRANT for each entity, scope and option, with all its permissions. */
function formatGrants(grants: readonly Grant[]): string[] {
  const columns = new Map<string, Grant[]>();
  for (const grant of grants) {
    const id = JSON.stringify([
      grant.entity,
      grant.table ?? '',
      grant.permission,
      grant.option,
      grant.column === undefined,
    ]);
    columns.set(id, [...(columns.get(id) ?? []), grant]);
  }
  const permissions = new Map<string, string[]>();
  for (const group of columns.values()) {
    const [first] = group;
    if (!first) continue;
    const tail = `${formatScope(first.table, group)} TO ${quoteEntity(first.entity)}${formatOption(first.option)};`;
    permissions.set(tail, [...(permissions.get(tail) ?? []), first.permission]);
  }
  const statements = [...permissions].map(([tail, names]) => `GRANT ${names.toSorted().join(', ')}${tail}`).toSorted();
  return sortByScope(statements, statement => statement);
}

function formatScope(table: string | undefined, grants: readonly Grant[]): string {
  if (table === undefined) return '';
  if (table === '*') return ' ON ALL TABLES';
  const columns = grants.flatMap(({ column }) => (column === undefined ? [] : quoteEntity(column)));
  return ` ON ${quoteEntity(table)}${columns.length > 0 ? `(${columns.toSorted().join(', ')})` : ''}`;
}

const formatOption = (option: boolean): string => (option ? ' WITH GRANT OPTION' : '');
