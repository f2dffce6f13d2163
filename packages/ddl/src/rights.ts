/*! The single rights that memberships, assumptions and grants give. */
import { foldCase, identify, keywordOf, parseName, significantTokens, type Token } from '@sqlpipe/sql';
import { needsQuotes } from './names.js';

/** One permission, on the database, on all tables, on one table, or on one of its columns. */
export interface Grant {
  readonly kind: 'grant';
  readonly permission: string;
  /** `*` is ON ALL TABLES; undefined is the database. */
  readonly table?: string | undefined;
  /** `*` is each column that the table has when the statement runs; undefined is the table as a whole. */
  readonly column?: string | undefined;
  readonly entity: string;
  /** Whether it can be granted to others. */
  readonly option: boolean;
}

/** A user in a group. */
export interface Membership {
  readonly kind: 'membership';
  readonly user: string;
  readonly group: string;
}

/** A service account, and who can act as it. */
export interface Assumption {
  readonly kind: 'assumption';
  readonly account: string;
  readonly entity: string;
  readonly option: boolean;
}

/** What access control gives to one user, group or service account. */
export type Right = Grant | Membership | Assumption;

/** All columns, or all tables. */
const ALL = '*';

/** The single rights that a statement gives; undefined where it gives none, or says more than is known here. */
export function parseRights(statement: string): Right[] | undefined {
  const { kind } = identify(statement);
  if (kind !== 'membership' && kind !== 'assumption' && kind !== 'grant') return undefined;
  const rights = new RightsParser(statement)[kind]();
  return rights.length > 0 ? rights : undefined;
}

/** The single rights that a REVOKE or REMOVE USER takes away; undefined where it is none, or says more than is known here. */
export function parseRevocation(statement: string): Right[] | undefined {
  const rights = new RightsParser(statement).revocation();
  return rights.length > 0 ? rights : undefined;
}

/** The statement that takes one right away. */
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

/** A name as it can stand in a statement of access control: bare where every server reads it so. */
export const quotePrincipal = (name: string): string =>
  /^[\p{L}_][\p{L}\d_]*$/u.test(name) && !needsQuotes(name) ? name : `"${name.replaceAll('"', '""')}"`;

/**
 * Rights as a server keeps them: one for each permission, scope and principal, with the grant option or without. A right on
 * a table is one on its columns too.
 */
export class RightSet {
  /** By what is given to whom, then by table, then by column. */
  readonly #rights = new Map<string, Map<string, Map<string, Right>>>();

  constructor(rights: Iterable<Right> = []) {
    for (const right of rights) this.add(right);
  }

  /** Adds a right that somebody has; of the same one with the grant option and without, the one with it stays. */
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

  /** Whether somebody who has these rights has that one: as it is, with the grant option, or on more. */
  has(right: Right): boolean {
    return this.#findCovering(right).some(wider => hasOption(wider) || !hasOption(right));
  }

  /**
   * The rights whose grant option is lost where this one is given: a server keeps the option of the latest statement, and
   * a right on a table takes the place of those on its columns.
   */
  findLostOptions(right: Right): Right[] {
    if (hasOption(right) || this.#findCovering(right, true).some(hasOption)) return [];
    return this.#findCovered(right).filter(hasOption);
  }

  /** Takes away the right on exactly this scope, with the grant option or without. */
  delete(right: Right): void {
    const { subject, table, column } = rightKey(right);
    this.#rights.get(subject)?.get(table)?.delete(column);
  }

  *[Symbol.iterator](): Generator<Right> {
    for (const tables of this.#rights.values()) for (const columns of tables.values()) yield* columns.values();
  }

  /** @param strictly only those on more */
  #findCovering(right: Right, strictly = false): Right[] {
    const { subject, table, column } = rightKey(right);
    const tables = this.#rights.get(subject);
    const isTable = right.kind === 'grant' && table !== DATABASE;
    const wider = [
      ...(column === WHOLE_TABLE ? [] : [tables?.get(table)?.get(WHOLE_TABLE)]),
      ...(isTable && table !== ALL ? [tables?.get(ALL)?.get(WHOLE_TABLE)] : []),
      ...(isTable ? [tables?.get(DATABASE)?.get(WHOLE_TABLE)] : []),
    ];
    const own = strictly ? [] : [tables?.get(table)?.get(column)];
    return [...own, ...wider].filter(found => found !== undefined);
  }

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

/** No table or column is called so. */
const [DATABASE, WHOLE_TABLE] = ['', ''];

/** What is given to whom, and on what; in lower case, as names differ by more than case. */
function rightKey(right: Right): { subject: string; table: string; column: string } {
  const fold = (name: string | undefined) => (name === undefined ? '' : foldCase(name));
  const subject = (what: string, whom: string) => `${what} ${fold(whom)}`;
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

/** Reads the documented forms; a method gives no rights where it meets anything else. */
class RightsParser {
  readonly #tokens: Token[];
  #at = 0;
  /** What stands before whom it is about. */
  #preposition = 'TO';

  constructor(statement: string) {
    this.#tokens = [...significantTokens(statement)].filter(({ text }) => text !== ';');
  }

  revocation(): Right[] {
    this.#preposition = 'FROM';
    if (this.#accept('REMOVE', 'USER')) return this.#members();
    if (!this.#accept('REVOKE')) return [];
    return this.#accept('ASSUME', 'SERVICE', 'ACCOUNT') ? this.#assumed() : this.#granted();
  }

  membership(): Right[] {
    this.#accept('ADD', 'USER');
    return this.#members();
  }

  #members(): Right[] {
    const user = this.#name();
    const groups = this.#accept(this.#preposition) ? this.#list(() => this.#name()) : [];
    return this.#isEnd && user ? groups.map(group => ({ kind: 'membership', user, group })) : [];
  }

  assumption(): Right[] {
    this.#accept('GRANT');
    this.#accept('ASSUME', 'SERVICE', 'ACCOUNT');
    return this.#assumed();
  }

  #assumed(): Right[] {
    const account = this.#name();
    const entity = this.#accept(this.#preposition) ? this.#name() : '';
    const option = this.#option();
    return this.#isEnd && account && entity ? [{ kind: 'assumption', account, entity, option }] : [];
  }

  grant(): Right[] {
    this.#accept('GRANT');
    return this.#granted();
  }

  #granted(): Right[] {
    const permissions = this.#list(() => this.#permission());
    const scopes = this.#accept('ON') ? this.#scopes() : [{}];
    const entity = this.#accept(this.#preposition) ? this.#name() : '';
    const option = this.#option();
    if (!this.#isEnd || !entity || permissions.includes('')) return [];
    return scopes.flatMap(scope =>
      permissions.map((permission): Right => ({ kind: 'grant', permission, ...scope, entity, option })),
    );
  }

  /** Words up to ON, TO (FROM) or a comma. */
  #permission(): string {
    const words: string[] = [];
    for (let word = this.#word; word && word !== 'ON' && word !== this.#preposition; word = this.#word) {
      words.push(word);
      this.#at++;
    }
    return words.join(' ');
  }

  #scopes(): Pick<Grant, 'table' | 'column'>[] {
    if (this.#accept('ALL', 'TABLES')) return [{ table: ALL }];
    return this.#list(() => {
      const table = this.#name();
      if (!this.#acceptText('(')) return [{ table }];
      const columns = this.#acceptText('*') ? [ALL] : this.#list(() => this.#name());
      // What is left out is not known here: the parenthesis stays, and the statement is not understood.
      this.#acceptText(')');
      return columns.map(column => ({ table, column }));
    }).flat();
  }

  /** `WITH GRANT OPTION`; `WITH VERIFICATION` gives nothing. */
  #option(): boolean {
    let option = false;
    for (;;) {
      if (this.#accept('WITH', 'GRANT', 'OPTION')) option = true;
      else if (!this.#accept('WITH', 'VERIFICATION')) return option;
    }
  }

  #list<T>(item: () => T): T[] {
    const items = [item()];
    while (this.#acceptText(',')) items.push(item());
    return items;
  }

  #name(): string {
    const { name, tokens } = parseName(distance => this.#tokens[this.#at + distance]);
    this.#at += tokens;
    return name;
  }

  get #word(): string {
    return keywordOf(this.#tokens[this.#at]);
  }

  get #isEnd(): boolean {
    return this.#at === this.#tokens.length;
  }

  #accept(...words: string[]): boolean {
    if (!words.every((word, i) => keywordOf(this.#tokens[this.#at + i]) === word)) return false;
    this.#at += words.length;
    return true;
  }

  #acceptText(text: string): boolean {
    if (this.#tokens[this.#at]?.text !== text) return false;
    this.#at++;
    return true;
  }
}
