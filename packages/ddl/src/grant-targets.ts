/*! Reads the principals and objects that a statement of access control names, and sorts grants by their scope. */
import { givesRight, type Kind, type NameSpan } from '@sqlpipe/sql';
import type { AccessStatement } from './grammar/access.js';
import { readAccess } from './rights.js';

/** The names in a membership, an assumption or a grant, in the order of the text. */
interface Targets<Name> {
  /** The tables, views and materialized views of a grant; empty if it is on all of them or on the database. */
  readonly objects: Name[];
  /** The users, groups and service accounts; of a grant, its entity. */
  readonly principals: Name[];
}

/**
 * Reads `ADD USER … TO …`, `[GRANT] ASSUME SERVICE ACCOUNT … TO …` and `GRANT … [ON …] TO …`, whatever follows. Other kinds name nothing.
 */
export function readGrantTargets(statement: string, kind: Kind): Targets<string> {
  const { objects, principals } = locateGrantTargets(statement, kind);
  return { objects: objects.map(({ name }) => name), principals: principals.map(({ name }) => name) };
}

/** Like `readGrantTargets`, with the positions of the names. */
export function locateGrantTargets(statement: string, kind: Kind): Targets<NameSpan> {
  const access = givesRight(kind) ? readAccess(statement, true) : undefined;
  if (!access) return { objects: [], principals: [] };
  if (access.kind === 'membership') return { objects: [], principals: [access.user, ...access.groups] };
  if (access.kind === 'assumption') return { objects: [], principals: [access.account, access.entity] };
  const tables = access.scopes.flatMap(({ table }) => table ?? []);
  return { objects: [...new Set(tables)], principals: [access.entity] };
}

/**
 * Sorts grants from the widest scope to the narrowest, otherwise in their order. A wider grant removes narrower ones, with their
 * grant option (documented for GRANT), so it has to come first.
 * @param statementOf the statement of an item
 */
export const sortByScope = <T>(grants: readonly T[], statementOf: (grant: T) => string): T[] =>
  grants
    .map(grant => ({ grant, scope: scopeOf(readAccess(statementOf(grant), true)) }))
    .sort((a, b) => a.scope - b.scope)
    .map(({ grant }) => grant);

/** The scope of a GRANT: 0 for the database, 1 for all tables, 2 for tables, 3 for columns. */
function scopeOf(access: AccessStatement | undefined): number {
  const scopes = access?.kind === 'grant' ? access.scopes.map(({ scope }) => scope) : [];
  if (scopes.some(({ column }) => column !== undefined)) return 3;
  if (scopes.some(({ table }) => table === '*')) return 1;
  return scopes.some(({ table }) => table !== undefined) ? 2 : 0;
}
