/*! Follows the documentation of the enterprise edition, whose source is closed: messages and positions of rejections may differ. */
import { isSameName, type NameSpan, serverTokens, TokenReader } from '@sqlpipe/sql';
import { type Cursor, isWord, missingError, RejectionError } from './cursor.js';
import { isValidColumnName, isValidTableName, parseEntityName, unquoteToken } from './names.js';

export interface RightsContext {
  /** Without it, statements for any server are read: any words are permissions, names are as in SQL (`fx-desk`, `public.t`). */
  readonly isPermission?: (name: string) => boolean;
  /** The names of a table's columns; undefined if it does not exist. */
  readonly columnsOf?: ((table: string) => readonly string[] | undefined) | undefined;
}

/** What stands for all tables, or for all columns of a table. */
export const ALL_NAMES = '*';

export interface Scope {
  /** The name of the table; `ALL_NAMES` for all tables, undefined for the database. */
  readonly table?: string | undefined;
  /** The name of the column; undefined for the complete table. */
  readonly column?: string | undefined;
}

export interface LocatedScope {
  readonly scope: Scope;
  readonly table?: NameSpan;
  /** The columns after EXCLUDE, if the others are not known. Then the column of `scope` is `*`. */
  readonly excluded?: readonly NameSpan[];
}

interface GrantTail {
  /** Whether the statement gives rights; otherwise it takes them away. */
  readonly gives: boolean;
  readonly hasGrantOption: boolean;
  /** WITH VERIFICATION: the objects and the entity must exist; otherwise they may be created later. */
  readonly isVerified: boolean;
  readonly entity: NameSpan;
}

type GrantedRights =
  | { readonly kind: 'assumption'; readonly account: NameSpan }
  | { readonly kind: 'grant'; readonly permissions: readonly string[]; readonly scopes: readonly LocatedScope[] };

export type RightsStatement =
  | {
      readonly kind: 'membership';
      readonly gives: boolean;
      readonly user: NameSpan;
      readonly groups: readonly NameSpan[];
    }
  | (GrantedRights & GrantTail);

/** Parses a statement of rights after its first word, but not what follows it; undefined for any other verb. @throws RejectionError */
export const parseRightsStatement = (cursor: Cursor, verb: string | undefined, context: RightsContext) =>
  new RightsParser(cursor, context).parse(verb);

class RightsParser {
  constructor(
    private readonly cursor: Cursor,
    private readonly context: RightsContext,
  ) {}

  parse(verb: string | undefined): RightsStatement | undefined {
    const { cursor } = this;
    const gives = verb === 'add' || verb === 'assume' || verb === 'grant';
    if (verb === 'add' || verb === 'remove') {
      cursor.expect('user');
      const user = this.#parseName('user');
      cursor.expect(gives ? 'to' : 'from');
      return { kind: 'membership', gives, user, groups: this.#parseList(() => this.#parseName('group')) };
    }
    const hasPermissions = verb === 'grant' || verb === 'revoke';
    if (verb === 'assume' || (hasPermissions && isWord(cursor.requireNoSemicolon('permission'), 'assume'))) {
      cursor.expect('service', 'account');
      return { kind: 'assumption', account: this.#parseName('service account'), ...this.#parseGrantTail(gives) };
    }
    if (!hasPermissions) return undefined;
    cursor.unread();
    const permissions = this.#parseList(() => this.#parsePermission());
    return { kind: 'grant', permissions, scopes: this.#parseScopes(), ...this.#parseGrantTail(gives) };
  }

  #parseGrantTail(gives: boolean): GrantTail {
    this.cursor.expect(gives ? 'to' : 'from');
    const entity = this.#parseName('entity');
    let [hasGrantOption, isVerified] = [false, false];
    while (gives && this.cursor.accept('with')) {
      const word = this.cursor.requireNoSemicolon("'grant option' or 'verification'");
      if (isWord(word, 'verification')) isVerified = true;
      else {
        this.cursor.expectToken(word, 'grant');
        this.cursor.expect('option');
        hasGrantOption = true;
      }
    }
    return { gives, entity, hasGrantOption, isVerified };
  }

  /** Words up to ON, TO, FROM or a comma. One permission contains TO: CONVERT PARTITION TO PARQUET. */
  #parsePermission(): string {
    const words: string[] = [];
    const isComplete = (next: string): boolean =>
      ['on', 'to', 'from', ','].includes(next.toLowerCase()) && words.join(' ').toUpperCase() !== 'CONVERT PARTITION';
    let token = this.cursor.next();
    const position = this.cursor.start;
    for (; token !== undefined && !isComplete(token); token = this.cursor.next()) words.push(token);
    this.cursor.unread();
    const permission = words.join(' ').toUpperCase();
    if (this.context.isPermission?.(permission) ?? /^[\w$@]+(?: [\w$@]+)*$/.test(permission)) return permission;
    throw new RejectionError(position, `unknown permission [${words.join(' ')}]`);
  }

  /** `ON`, and after it `ALL TABLES` or tables with or without columns; without ON the scope is the database. */
  #parseScopes(): LocatedScope[] {
    if (!this.cursor.accept('on')) return [{ scope: {} }];
    if (isWord(this.cursor.requireNoSemicolon('table name'), 'all')) {
      this.cursor.expect('tables');
      return [{ scope: { table: ALL_NAMES } }];
    }
    this.cursor.unread();
    return this.#parseList(() => {
      const table = this.#parseName('table');
      return this.cursor.accept('(') ? this.#parseColumns(table) : [{ scope: { table: table.name }, table }];
    }).flat();
  }

  #parseColumns(table: NameSpan): LocatedScope[] {
    const toScope = (column: string): LocatedScope => ({ scope: { table: table.name, column }, table });
    if (!this.cursor.accept('*')) return this.#parseColumnNames().map(({ name }) => toScope(name));
    const { start } = this.cursor;
    const excluded: NameSpan[] = [];
    if (this.cursor.accept('exclude')) {
      this.cursor.expect('(');
      excluded.push(...this.#parseColumnNames());
    }
    this.cursor.expect(')');
    const isChecked = this.context.isPermission !== undefined;
    const all = this.context.columnsOf?.(table.name);
    if (!all && isChecked) throw missingError(start, table.name);
    if (!all) return [{ ...toScope(ALL_NAMES), excluded }];
    for (const each of isChecked ? excluded : [])
      if (!all.some(column => isSameName(column, each.name)))
        throw new RejectionError(each.start, `column does not exist [table=${table.name}, column=${each.name}]`);
    const columns = all.filter(column => !excluded.some(({ name }) => isSameName(column, name)));
    if (columns.length === 0 && isChecked) throw new RejectionError(start, `no column is left [table=${table.name}]`);
    return columns.map(toScope);
  }

  #parseColumnNames(): NameSpan[] {
    const columns = this.#parseList(() => this.#parseName('column'));
    this.cursor.expect(')');
    return columns;
  }

  #parseName(what: string): NameSpan {
    const { cursor } = this;
    if (!this.context.isPermission) {
      // By the rules of SQL: of several tokens, with doubled quotes made single, without the schema `public`.
      const name = new TokenReader(serverTokens(cursor.text, cursor.nextStart)).readName();
      if (name.name === '') throw new RejectionError(name.start, `${what} name expected`);
      cursor.seek(name.end);
      return name;
    }
    if (what !== 'table' && what !== 'column') return { ...parseEntityName(cursor, `${what} name`), end: cursor.end };
    const isValid = what === 'table' ? isValidTableName : isValidColumnName;
    const name = unquoteToken(cursor.requireNoSemicolon(`${what} name`));
    if (!isValid(name)) throw cursor.error(`invalid ${what} name [${what}=${name}]`);
    return { name, start: cursor.start, end: cursor.end };
  }

  #parseList<T>(item: () => T): T[] {
    const items: T[] = [];
    do items.push(item());
    while (this.cursor.accept(','));
    return items;
  }
}
