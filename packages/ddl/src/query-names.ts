/*!
 * Where a query names its tables: after FROM and the like, and in front of columns, where a table without an alias goes by
 * its own name (`trades.price`). What an alias or a common table expression stands for is no table there. Each rule was
 * observed on QuestDB 9.3.4.
 */
import { foldCase, keywordOf, type LocatedName, type Token, unquote } from '@sqlpipe/sql';
import { RESERVED } from './names.js';
import type { TokenReader } from './token-reader.js';

/** How a name is written in its place, which decides what another name there has to look like. */
export type NamePlace =
  | 'name' // one token, in any quotes or bare
  | 'table' // after FROM: a bare one may hold dots
  | 'qualifier' // before the dot of a column
  | 'quoted-qualifier'; // the same, inside the quotes of `"trades.price"`

/** A name of a table in a query. */
export interface TableName extends LocatedName {
  readonly place: NamePlace;
}

/** What may follow a table and is no alias of it. */
const NO_ALIAS = new Set([
  ...RESERVED,
  ...(
    'asof cross full group horizon inner lateral latest left lt offset outer pivot prevailing right splice timestamp ' +
    'tolerance unpivot window'
  ).split(' '),
]);

/** What begins a query, and what else means something where a table may stand. */
const BEFORE_TABLE = new Set(['declare', 'overridable', 'public', 'show']);

/** Whether a name can stand bare in any place of a statement, a query too. */
export const isBareName = (name: string): boolean =>
  /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) && !NO_ALIAS.has(foldCase(name)) && !BEFORE_TABLE.has(foldCase(name));

/** Words after which a quoted name is no alias. */
const BEFORE_COLUMN = new Set([...RESERVED, 'by', 'when', 'then']);
BEFORE_COLUMN.delete('as');

/** The longest chain of names with dots that is looked at, in UTF-16 code units: no name of a table is longer. */
const LONGEST = 400;

/** One query: the tables it reads, by what its columns can call them. */
interface Scope {
  /** By folded name, whether it is the name of a table itself. */
  tables: Map<string, boolean>;
  /** What stands before the dots of columns, by folded name. */
  pending: Map<string, TableName[]>;
  /** How many tokens and names have been seen. */
  parts: number;
  /** Whether it is a table's name in parentheses and no more, which lends its name to the query around it. */
  isBare: boolean;
}

const newScope = (): Scope => ({ tables: new Map(), pending: new Map(), parts: 0, isBare: false });

/** Collects the names of tables on a walk over the tokens of a statement, which tells where queries begin and end. */
export class QueryNames {
  readonly #found: TableName[] = [];
  /** The queries that we are in, one for each parenthesis: an expression is in the query around it. */
  readonly #scopes: Scope[] = [newScope()];
  #last: Token | undefined;

  /** All that were found, in the order of the text. */
  names(): TableName[] {
    for (const scope of this.#scopes) this.#resolve(scope);
    const sorted = this.#found.sort((a, b) => a.start - b.start || b.end - a.end);
    const names: TableName[] = [];
    // A table's name with dots can look like that of another in front of a column.
    for (const name of sorted) if (name.start >= (names.at(-1)?.end ?? 0)) names.push(name);
    return names;
  }

  /** A parenthesis opens, that of a query or of an expression. */
  open(isQuery: boolean): void {
    this.#scopes.push(isQuery ? newScope() : this.#scope);
  }

  /** A parenthesis has closed. @param ahead what follows, an alias perhaps */
  close(ahead: TokenReader): void {
    const inner = this.#scopes.pop() as Scope;
    const scope = this.#scope;
    if (inner === scope) return;
    this.#resolve(inner);
    scope.pending = merge(scope.pending, inner.pending); // what is left may be of a query around it
    const alias = aliasIn(ahead);
    if (alias !== undefined) scope.tables.set(foldCase(alias), false);
    else if (inner.isBare)
      for (const [key, isTable] of inner.tables) if (!scope.tables.has(key)) scope.tables.set(key, isTable);
    scope.isBare = inner.isBare && scope.parts === 1 && ahead.peek()?.text === ')';
  }

  /** UNION and the like: what comes is another query. */
  nextOperand(): void {
    this.#resolve(this.#scope);
    this.#scope.tables.clear();
  }

  /** A table that the query reads. @param isTable whether it is one, and no common table expression @param ahead what follows */
  addTable(table: LocatedName, isTable: boolean, ahead: TokenReader): void {
    if (isTable) this.#found.push({ ...table, place: 'table' });
    const alias = aliasIn(ahead);
    const scope = this.#scope;
    scope.tables.set(foldCase(alias ?? table.name), alias === undefined && isTable);
    scope.isBare = scope.parts === 1 && ahead.peek()?.text === ')';
  }

  /** The table that a materialized view follows. */
  addBase(base: LocatedName): void {
    this.#found.push({ ...base, place: 'name' });
  }

  /** The next token, wherever it stands: it may begin a column with a table's name in front. */
  addToken(ahead: TokenReader): void {
    const token = ahead.peek() as Token;
    const last = this.#last;
    this.#last = token;
    const scope = this.#scope;
    scope.parts++;
    if (token.type === 'sign' || /^\d/.test(token.text) || (last && isDot(last, token.start - 1))) return;
    const name =
      qualifierIn(ahead) ?? (token.type === 'name' && mayBeColumn(last) ? quotedQualifier(token) : undefined);
    if (name) add(scope.pending, foldCase(name.name), [name]);
  }

  #resolve({ tables, pending }: Scope): void {
    for (const [key, isTable] of tables) {
      if (isTable) for (const name of pending.get(key) ?? []) this.#found.push(name);
      pending.delete(key);
    }
  }

  get #scope(): Scope {
    return this.#scopes.at(-1) as Scope;
  }
}

/** All but the last of names with dots between, which comes next: `fx.usd` of `fx.usd.price`. */
function qualifierIn(ahead: TokenReader): TableName | undefined {
  const { start, text } = ahead.peek() as Token;
  let end = start + text.length;
  let name = unquote(text);
  for (let at = 1; end - start < LONGEST; at += 2) {
    if (!isDot(ahead.peek(at), end)) return;
    const part = ahead.peek(at + 1);
    if (part?.start !== end + 1 || (part.type === 'sign' && part.text !== '*')) return;
    if (!isDot(ahead.peek(at + 2), part.start + part.text.length)) return { name, start, end, place: 'qualifier' };
    name += `.${unquote(part.text)}`;
    end = part.start + part.text.length;
  }
  return;
}

/** `trades` of `"trades.price"`: no column's name holds a dot, so it is the same without the quotes. */
function quotedQualifier({ text, start }: Token): TableName | undefined {
  const name = text.slice(1, text.lastIndexOf('.'));
  return name && text.includes('.')
    ? { name, start: start + 1, end: start + 1 + name.length, place: 'quoted-qualifier' }
    : undefined;
}

/** Whether a quoted name after a token can be a column: after an expression, and after AS, it is an alias. */
const mayBeColumn = (last: Token | undefined): boolean =>
  last?.type === 'sign' ? last.text !== ')' && last.text !== ']' : BEFORE_COLUMN.has(keywordOf(last).toLowerCase());

/** Whether a token is a dot that stands at an offset. */
const isDot = (token: Token | undefined, at: number): boolean => token?.text === '.' && token.start === at;

/** The alias that comes next, if one does. */
function aliasIn(ahead: TokenReader): string | undefined {
  const token = ahead.word === 'AS' ? ahead.peek(1) : ahead.peek();
  if (!token || token.type === 'sign' || /^[\d@]/.test(token.text)) return undefined;
  return NO_ALIAS.has(keywordOf(token).toLowerCase()) ? undefined : unquote(token.text);
}

/** Both, in the larger one: to move the larger would take time by the square where queries are deep. */
function merge(a: Scope['pending'], b: Scope['pending']): Scope['pending'] {
  const [large, small] = a.size < b.size ? [b, a] : [a, b];
  for (const [key, names] of small) add(large, key, names);
  return large;
}

function add(pending: Scope['pending'], key: string, names: TableName[]): void {
  const there = pending.get(key);
  if (!there) pending.set(key, names);
  else if (there.length < names.length) pending.set(key, append(names, there));
  else append(there, names);
}

function append(names: TableName[], more: readonly TableName[]): TableName[] {
  for (const name of more) names.push(name);
  return names;
}
