/*! Answers SHOW of access control, with the documented columns. Callers need no permission to see what concerns themselves. */
import { ALL_NAMES, type Right } from '@sqlpipe/ddl';
import { RejectionError } from '@sqlpipe/ddl/parser';
import type { Acl, AclList, CatalogueObject, Cell, Principal, ResultSet, Session } from '@sqlpipe/engine';
import { isSameName } from '@sqlpipe/sql';
import { heads } from './catalogue-functions.js';
import { isExpired } from './secrets.js';

/** @throws DenialError, and RejectionError if there is no principal of that name */
export function showAcl(list: AclList, entity: string | undefined, session: Session): ResultSet {
  const { acl, caller, authorize } = session;
  // USER DETAILS is not required for the caller, its groups and the service accounts that it may assume.
  const isOwn = () => acl.principalAndGroups(caller).some(own => isSameName(own, entity));
  if (entity !== undefined && !isOwn() && !acl.canAssume(caller, entity)) authorize('USER DETAILS');
  return ACL_ANSWERS[list](session, entity);
}

const listWithEnabled = (acl: Acl, kind: Principal['kind'], others: Cell[][] = []): ResultSet => ({
  columns: [...heads('STRING', 'name'), ...heads('BOOLEAN', 'enabled')],
  rows: [...others, ...acl.list(kind).map(({ name, isDisabled = false }): Cell[] => [name, !isDisabled])],
});

const ACL_ANSWERS: Readonly<Record<AclList, (session: Session, entity: string | undefined) => ResultSet>> = {
  users: ({ acl, authorize }) => {
    authorize('LIST USERS');
    return listWithEnabled(acl, 'user', [[acl.admin, true]]);
  },
  groups: ({ acl, authorize }, entity) => {
    if (entity === undefined) authorize('LIST USERS');
    else acl.requireEntity(entity, 0);
    const names = entity === undefined ? undefined : acl.rights.groupsOf(entity);
    const groups = acl.list('group').filter(({ name }) => names?.some(own => isSameName(own, name)) ?? true);
    return {
      columns: heads('STRING', 'name external_alias'),
      rows: groups.map(({ name, alias }) => [name, alias ?? null]),
    };
  },
  'service accounts': ({ acl, authorize }, entity) => {
    if (entity === undefined) {
      authorize('LIST USERS');
      return listWithEnabled(acl, 'service account');
    }
    acl.requireEntity(entity, 0);
    const rows = rightsWithGroups(acl, entity).flatMap((right): Cell[][] =>
      right.kind === 'assumption' ? [[right.account, right.hasGrantOption]] : [],
    );
    return { columns: [...heads('STRING', 'name'), ...heads('BOOLEAN', 'grant_option')], rows: rows.toSorted() };
  },
  user: (session, entity) => credentialRows(session, 'user', entity),
  'service account': (session, entity) => credentialRows(session, 'service account', entity),
  permissions: ({ acl, catalogue, caller }, entity = caller) => {
    acl.requireEntity(entity, 0);
    return {
      columns: [
        ...heads('STRING', 'permission table_name column_name'),
        ...heads('BOOLEAN', 'grant_option'),
        ...heads('STRING', 'origin'),
      ],
      rows: permissionRows(rightsWithGroups(acl, entity), name => catalogue.find(name)),
    };
  },
};

const rightsWithGroups = (acl: Acl, entity: string): Right[] =>
  acl.principalAndGroups(entity).flatMap(name => [...acl.rights.rightsOf(name)]);

function credentialRows({ acl, caller }: Session, kind: Principal['kind'], name = caller): ResultSet {
  const principal = acl.requireEntity(name, 0);
  if ((principal?.kind ?? 'user') !== kind) throw new RejectionError(0, `${kind} does not exist [name=${name}]`);
  const hasToken = principal?.tokens.some(token => !isExpired(token)) ?? false;
  return {
    columns: [...heads('STRING', 'auth_type'), ...heads('BOOLEAN', 'enabled')],
    rows: [
      ['Password', principal ? principal.passwordHash !== undefined : true],
      ['JWK Token', false],
      ['REST Token', hasToken],
    ],
  };
}

/**
 * A row for each permission and existing scope; if it is granted twice, with the grant option of either. The right to read or update some
 * columns includes the designated timestamp: origin `I`.
 */
function permissionRows(rights: readonly Right[], find: (name: string) => CatalogueObject | undefined): Cell[][] {
  const rows = new Map<string, Cell[]>();
  const idOf = (...scope: Cell[]) => JSON.stringify(scope);
  const add = (permission: string, table: string | null, column: string | null, hasGrantOption: boolean) => {
    const id = idOf(permission, table, column);
    if (hasGrantOption || !rows.has(id)) rows.set(id, [permission, table, column, hasGrantOption, 'G']);
  };
  const implied: [permission: string, table: string, timestamp: string][] = [];
  for (const { permission, table, column, hasGrantOption } of rights.filter(right => right.kind === 'grant')) {
    if (table === undefined || table === ALL_NAMES) {
      add(permission, null, null, hasGrantOption);
      continue;
    }
    const object = find(table);
    const existingColumn = object?.columns.find(({ name }) => isSameName(name, column));
    if (!object || (column !== undefined && !existingColumn)) continue;
    add(permission, object.name, existingColumn?.name ?? null, hasGrantOption);
    if (existingColumn && object.timestamp !== undefined && (permission === 'SELECT' || permission === 'UPDATE'))
      implied.push([permission, object.name, object.timestamp]);
  }
  for (const [permission, table, timestamp] of implied) {
    const wider = [idOf(permission, null, null), idOf(permission, table, null), idOf(permission, table, timestamp)];
    if (wider.some(id => rows.has(id))) continue;
    rows.set(idOf(permission, table, timestamp), [permission, table, timestamp, false, 'I']);
  }
  return [...rows.values()];
}
