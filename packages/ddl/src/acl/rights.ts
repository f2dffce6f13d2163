import { isRightKind, type Kind } from '@sqlpipe/sql';
import { Cursor, tryParse } from '../parser/cursor.js';
import { needsQuotes, PLAIN_NAME } from '../parser/names.js';
import {
  ALL_NAMES,
  parseRightsStatement,
  type RightsContext,
  type RightsStatement,
  type Scope,
} from '../parser/rights-parser.js';

/** A permission on the database, all tables, a table or a column. The column `*` means all columns that exist when the statement runs. */
export interface Grant extends Scope {
  readonly kind: 'grant';
  readonly permission: string;
  readonly entity: string;
  /** Whether the entity may grant it to others. */
  readonly hasGrantOption: boolean;
}

/** A user in a group. */
export interface Membership {
  readonly kind: 'membership';
  readonly user: string;
  readonly group: string;
}

/** The right to act as a service account. */
export interface Assumption {
  readonly kind: 'assumption';
  readonly account: string;
  readonly entity: string;
  readonly hasGrantOption: boolean;
}

/** One right of a user, a group or a service account. */
export type Right = Grant | Membership | Assumption;

type ColumnsOf = RightsContext['columnsOf'];

/** Parses a statement of access control as any server might; undefined for any other. @param ignoresRest whether anything may follow */
function readStatement(
  statement: string,
  { ignoresRest = false, columnsOf }: { ignoresRest?: boolean; columnsOf?: ColumnsOf } = {},
) {
  const cursor = new Cursor(statement);
  return tryParse(() => {
    const parsed = parseRightsStatement(cursor, cursor.next()?.toLowerCase(), { columnsOf });
    if (!ignoresRest) cursor.expectEnd();
    return parsed;
  });
}

/** Parses the individual rights that a statement gives; undefined if there are none. @param columnsOf what `*` stands for, if known */
export const parseRights = (statement: string, columnsOf?: ColumnsOf): Right[] | undefined =>
  listRights(readStatement(statement, { columnsOf }), true);

/** Parses the individual rights that REVOKE or REMOVE USER removes; undefined for another statement, or an unknown syntax. */
export const parseRevocation = (statement: string): Right[] | undefined => listRights(readStatement(statement), false);

/** Lists the individual rights that a statement gives, or takes away if `gives` is false. Undefined if they depend on unknown columns. */
function listRights(parsed: RightsStatement | undefined, gives: boolean) {
  if (parsed?.gives !== gives) return undefined;
  if (parsed.kind === 'membership')
    return parsed.groups.map(({ name: group }): Right => ({ kind: 'membership', user: parsed.user.name, group }));
  const { hasGrantOption } = parsed;
  const entity = parsed.entity.name;
  if (parsed.kind === 'assumption')
    return [{ kind: 'assumption', account: parsed.account.name, entity, hasGrantOption } satisfies Right];
  if (parsed.scopes.some(({ excluded = [] }) => excluded.length > 0)) return undefined;
  return parsed.scopes.flatMap(({ scope }) =>
    parsed.permissions.map((permission): Right => ({ kind: 'grant', permission, ...scope, entity, hasGrantOption })),
  );
}

/** The statement that gives one right. */
export const printRight = (right: Right): string => printRightStatement(right, ['ADD', 'GRANT', 'TO']);

/** The statement that removes one right. */
export const printRevocation = (right: Right): string => printRightStatement(right, ['REMOVE', 'REVOKE', 'FROM']);

function printRightStatement(right: Right, [addWord, grantWord, preposition]: readonly [string, string, string]) {
  if (right.kind === 'membership')
    return `${addWord} USER ${quoteAclName(right.user)} ${preposition} ${quoteAclName(right.group)};`;
  const what =
    right.kind === 'assumption'
      ? `ASSUME SERVICE ACCOUNT ${quoteAclName(right.account)}`
      : `${right.permission}${printScope(right.table, right.column === undefined ? [] : [right.column])}`;
  const option = grantWord === 'GRANT' && right.hasGrantOption ? ' WITH GRANT OPTION' : '';
  return `${grantWord} ${what} ${preposition} ${quoteAclName(right.entity)}${option};`;
}

/** The scope of a grant, which follows its permissions. @param columns empty for the complete table */
export function printScope(table: string | undefined, columns: readonly string[]): string {
  if (table === undefined) return '';
  if (table === ALL_NAMES) return ' ON ALL TABLES';
  const names = columns.map(column => (column === ALL_NAMES ? ALL_NAMES : quoteAclName(column)));
  return ` ON ${quoteAclName(table)}${names.length > 0 ? `(${names.toSorted().join(', ')})` : ''}`;
}

/** A name as it is written in a statement of access control: without quotes if every server accepts that. */
export const quoteAclName = (name: string): string =>
  PLAIN_NAME.test(name) && !needsQuotes(name) ? name : `"${name.replaceAll('"', '""')}"`;

/**
 * Finds the names in a statement that gives rights, in the order of the text, whatever follows its clauses. Empty for other kinds.
 * @returns the tables and views of a grant (none if it is on all of them or on the database), and users, groups and service accounts
 */
export function locateNamesInRights(statement: string, kind: Kind) {
  const parsed = isRightKind(kind) ? readStatement(statement, { ignoresRest: true }) : undefined;
  if (!parsed) return { objects: [], principals: [] };
  if (parsed.kind === 'membership') return { objects: [], principals: [parsed.user, ...parsed.groups] };
  if (parsed.kind === 'assumption') return { objects: [], principals: [parsed.account, parsed.entity] };
  const tables = parsed.scopes.flatMap(({ table }) => table ?? []);
  return { objects: [...new Set(tables)], principals: [parsed.entity] };
}

/** Sorts grants, the widest scope first: it removes narrower grants with their grant option (documented for GRANT). */
export const sortByScope = <T>(grants: readonly T[], statementOf: (grant: T) => string): T[] =>
  grants
    .map(grant => ({ grant, rank: rankScope(readStatement(statementOf(grant), { ignoresRest: true })) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ grant }) => grant);

/** Ranks the scope of a GRANT: 0 for the database, 1 for all tables, 2 for tables, 3 for columns. */
function rankScope(parsed: RightsStatement | undefined): number {
  const scopes = parsed?.kind === 'grant' ? parsed.scopes.map(({ scope }) => scope) : [];
  if (scopes.some(({ column }) => column !== undefined)) return 3;
  if (scopes.some(({ table }) => table === ALL_NAMES)) return 1;
  return scopes.some(({ table }) => table !== undefined) ? 2 : 0;
}
