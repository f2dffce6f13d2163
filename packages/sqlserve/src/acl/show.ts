/*! SHOW USERS, GROUPS, SERVICE ACCOUNTS and PERMISSIONS. */
import { type Cursor, is, unquote } from '@sqlpipe/ddl/grammar';
import type { Show } from '../parser/show.js';
import type { Outcome } from '../reply.js';
import type { Session } from '../session.js';
import type { Acl, PrincipalKind } from './acl.js';

type ShowAcl = Extract<Show, { statement: 'show acl' }>;

/** The lists that can be shown; PERMISSIONS of somebody, or of the caller. */
export function showKinds(cursor: Cursor, token: string): Show | undefined {
  const what = token.toLowerCase();
  if (what === 'service') {
    cursor.expect('accounts');
    return { statement: 'show acl', what: 'service account' };
  }
  if (what === 'users' || what === 'groups') return { statement: 'show acl', what: what.slice(0, -1) };
  if (what !== 'permissions') return;
  const entity = cursor.next();
  if (entity === undefined || is(entity, ';')) return { statement: 'show acl', what };
  return { statement: 'show acl', what, entity: unquote(entity) };
}

export function showAcl(acl: Acl, { what, entity }: ShowAcl, session: Session): Outcome {
  if (what !== 'permissions') {
    session.allow('LIST USERS');
    const rows = acl.list(what as PrincipalKind).map(({ name }) => [name]);
    return { kind: 'rows', columns: [{ name: 'name', type: 'STRING' }], rows };
  }
  if (entity !== undefined) session.allow('USER DETAILS');
  const name = entity ?? session.owner ?? '';
  const columns = ['permission', 'table_name', 'column_name'].map(name => ({ name, type: 'STRING' }));
  const rows = acl.grants
    .filter(grant => grant.entity.toLowerCase() === name.toLowerCase())
    .map(({ permission, table, column, option }) => [permission, table ?? null, column ?? null, option]);
  return { kind: 'rows', columns: [...columns, { name: 'grant_option', type: 'BOOLEAN' }], rows };
}
