/*! The individual rights that memberships, assumptions and grants give. */
import { foldCase } from '@sqlpipe/sql';
import { type AccessStatement, parseAccess, type Scope } from './grammar/access.js';
import { Cursor } from './grammar/cursor.js';
import { RejectionError } from './grammar/rejection-error.js';
import { needsQuotes } from './names.js';

/**
 * One permission, on the database, on all tables, on one table, or on one of its columns. The column `*` stands for each
 * column that exists when the statement runs.
 */
export interface Grant extends Scope {
  readonly kind: 'grant';
  readonly permission: string;
  /** The receiver. */
  readonly entity: string;
  /** Whether the receiver may grant it to others. */
  readonly option: boolean;
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
  readonly option: boolean;
}

/** One right of a user, a group or a service account. */
export type Right = Grant | Membership | Assumption;

/** All columns, or all tables. */
const ALL = '*';

/**
 * Parses a statement of access control as any server might read it; undefined for another statement, or if its syntax is
 * unknown. @param ignoresRest whether anything may follow the statement's known clauses
 */
export function readAccess(statement: string, ignoresRest = false): AccessStatement | undefined {
  const cursor = new Cursor(statement);
  try {
    const access = parseAccess(cursor);
    if (!ignoresRest) cursor.expectEnd();
    return access;
  } catch (error) {
    if (error instanceof RejectionError) return undefined;
    throw error;
  }
}

/** Parses the individual rights that a statement gives; undefined if it gives none, or if its syntax is unknown. */
export const parseRights = (statement: string): Right[] | undefined => rightsOf(readAccess(statement), true);

/**
 * Parses the individual rights that REVOKE or REMOVE USER removes; undefined for another statement, or an unknown
 * syntax.
 */
export const parseRevocation = (statement: string): Right[] | undefined => rightsOf(readAccess(statement), false);

/** The rights of a statement; undefined if they depend on the columns of a table, or if it gives what should be removed. */
function rightsOf(access: AccessStatement | undefined, gives: boolean): Right[] | undefined {
  if (access?.gives !== gives) return undefined;
  if (access.kind === 'membership')
    return access.groups.map(({ name: group }) => ({ kind: 'membership', user: access.user.name, group }));
  const { option } = access;
  const entity = access.entity.name;
  if (access.kind === 'assumption') return [{ kind: 'assumption', account: access.account.name, entity, option }];
  const { permissions, scopes } = access;
  if (scopes.some(({ excluded = [] }) => excluded.length > 0)) return undefined;
  return scopes.flatMap(({ scope }) =>
    permissions.map((permission): Right => ({ kind: 'grant', permission, ...scope, entity, option })),
  );
}

/** The statement that removes one right. */
export function printRevocation(right: Right): string {
  if (right.kind === 'membership')
    return `REMOVE USER ${quotePrincipal(right.user)} FROM ${quotePrincipal(right.group)};`;
  const tail = `FROM ${quotePrincipal(right.entity)};`;
  if (right.kind === 'assumption') return `REVOKE ASSUME SERVICE ACCOUNT ${quotePrincipal(right.account)} ${tail}`;
  return `REVOKE ${right.permission}${formatScope(right)} ${tail}`;
}

/** The statement that gives one right. */
export function printRight(right: Right): string {
  if (right.kind === 'membership') return `ADD USER ${quotePrincipal(right.user)} TO ${quotePrincipal(right.group)};`;
  const tail = `TO ${quotePrincipal(right.entity)}${right.option ? ' WITH GRANT OPTION' : ''};`;
  if (right.kind === 'assumption') return `GRANT ASSUME SERVICE ACCOUNT ${quotePrincipal(right.account)} ${tail}`;
  return `GRANT ${right.permission}${formatScope(right)} ${tail}`;
}

function formatScope({ table, column }: Grant): string {
  if (table === undefined) return '';
  if (table === ALL) return ' ON ALL TABLES';
  return ` ON ${quotePrincipal(table)}${column === undefined ? '' : `(${column === ALL ? ALL : quotePrincipal(column)})`}`;
}

/** A name as it is written in a statement of access control: without quotes if every server accepts that. */
export const quotePrincipal = (name: string): string =>
  /^[\p{L}_][\p{L}\d_]*$/u.test(name) && !needsQuotes(name) ? name : `"${name.replaceAll('"', '""')}"`;

/**
 * Rights as a server stores them: one for each permission, scope and principal, with or without the grant option. A right
 * on a table includes its columns.
 */
export class RightSet {
  /** By subject, then by table, then by column; see `rightKey`. */
  readonly #rights = new Map<string, Map<string, Map<string, Right>>>();

  constructor(rights: Iterable<Right> = []) {
    for (const right of rights) this.add(right);
  }

  /** Adds a right. Of the same right with the grant option and without it, the one with it remains. */
  add(right: Right): void {
    const { subject, table, column } = rightKey(right);
    const same = this.#rights.get(subject)?.get(table)?.get(column);
    if (same && hasOption(same)) return;
    const tables = this.#rights.get(subject) ?? new Map<string, Map<string, Right>>();
    const columns = tables.get(table) ?? new Map<string, Right>();
    this.#rights.set(subject, tables.set(table, columns.set(column, right)));
  }

  /** Gives a right as a server does: it takes the place of those that it covers, unless a wider one gives it already. */
  grant(right: Right): void {
    for (const covered of this.#findCovered(right)) this.delete(covered);
    if (!this.has(right)) this.add(right);
  }

  /** Takes a right away as a server does: those that it covers go too, and with ALL those of each permission. */
  revoke(right: Right): void {
    const isAll = right.kind === 'grant' && right.permission === 'ALL';
    const permissions = isAll ? [...this].flatMap(other => (other.kind === 'grant' ? other.permission : [])) : [];
    const revoked = isAll ? [...new Set(permissions)].map(permission => ({ ...right, permission })) : [right];
    for (const covered of revoked.flatMap(each => this.#findCovered(each))) this.delete(covered);
  }

  /** Whether these rights include a right, possibly with the grant option or on a wider scope. */
  has(right: Right): boolean {
    return this.#findCovering(right).some(wider => hasOption(wider) || !hasOption(right));
  }

  /** Whether exactly this right is stored, with the same grant option: granting it again changes nothing. */
  stores(right: Right): boolean {
    const { subject, table, column } = rightKey(right);
    const same = this.#rights.get(subject)?.get(table)?.get(column);
    return same !== undefined && hasOption(same) === hasOption(right);
  }

  /**
   * Finds the rights that lose their grant option if this right is granted. A server stores the option of the latest
   * statement, and a right on a table replaces the rights on its columns.
   */
  findLostOptions(right: Right): Right[] {
    if (hasOption(right) || this.#findCovering(right, true).some(hasOption)) return [];
    return this.#findCovered(right).filter(hasOption);
  }

  /** Removes the right on exactly this scope, with or without the grant option. */
  delete(right: Right): void {
    const { subject, table, column } = rightKey(right);
    this.#rights.get(subject)?.get(table)?.delete(column);
  }

  *[Symbol.iterator](): Generator<Right> {
    for (const tables of this.#rights.values()) for (const columns of tables.values()) yield* columns.values();
  }

  /** Finds the rights that include a right. @param onlyWider whether the right on the same scope is omitted */
  #findCovering(right: Right, onlyWider = false): Right[] {
    const { subject, table, column } = rightKey(right);
    const tables = this.#rights.get(subject);
    const isTable = right.kind === 'grant' && table !== DATABASE;
    const wider = [
      ...(column === WHOLE_TABLE ? [] : [tables?.get(table)?.get(WHOLE_TABLE)]),
      ...(isTable && table !== ALL ? [tables?.get(ALL)?.get(WHOLE_TABLE)] : []),
      ...(isTable ? [tables?.get(DATABASE)?.get(WHOLE_TABLE)] : []),
    ];
    const own = onlyWider ? [] : [tables?.get(table)?.get(column)];
    return [...own, ...wider].filter(found => found !== undefined);
  }

  /** Finds the rights that a right includes. */
  #findCovered(right: Right): Right[] {
    const { subject, table, column } = rightKey(right);
    const tables = this.#rights.get(subject) ?? new Map<string, Map<string, Right>>();
    const isAny = right.kind === 'grant' && (table === DATABASE || table === ALL);
    const covered = isAny
      ? [...tables].flatMap(([other, columns]) => (other === DATABASE && table === ALL ? [] : [...columns.values()]))
      : [...(tables.get(table)?.values() ?? [])];
    if (isAny || column === WHOLE_TABLE) return covered;
    return covered.filter(other => {
      const { column: name } = rightKey(other);
      return name !== WHOLE_TABLE && (column === ALL || name === column);
    });
  }
}

const hasOption = (right: Right): boolean => right.kind !== 'membership' && right.option;

/** Keys that are not the name of a table or a column. */
const [DATABASE, WHOLE_TABLE] = ['', ''];

/** The key of a right: what is given to whom, and the scope. Names are folded, because their case does not matter. */
function rightKey(right: Right): { subject: string; table: string; column: string } {
  const fold = (name: string | undefined) => (name === undefined ? '' : foldCase(name));
  const subject = (permission: string, receiver: string) => `${permission} ${fold(receiver)}`;
  if (right.kind === 'membership')
    return { subject: subject('MEMBER', right.user), table: fold(right.group), column: WHOLE_TABLE };
  if (right.kind === 'assumption')
    return { subject: subject('ASSUME', right.entity), table: fold(right.account), column: WHOLE_TABLE };
  return {
    subject: subject(`GRANT ${right.permission}`, right.entity),
    table: fold(right.table),
    column: fold(right.column),
  };
}
