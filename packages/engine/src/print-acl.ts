/*!
 * Prints access control as statements. The exact rows of an enterprise server are not public. So these are the documented statements, with
 * names quoted only if necessary. If they are replayed in their order, the result prints the same rows.
 */
import { formatScope, type Grant, printRight, quotePrincipal, sortByScope } from '@sqlpipe/ddl';
import { isPrincipal, KINDS, type Kind, quoteLiteral } from '@sqlpipe/sql';
import type { Acl } from './acl.js';

/** CREATE USER, GROUP and SERVICE ACCOUNT, without credentials: the statements that precede the objects. */
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
