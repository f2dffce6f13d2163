/*! Finds the names of tables after FROM and before columns (`trades.price`); aliases do not count. The rules were observed on 9.3.4. */
import { keywordOf, NameMap, type NameSpan, type Token, type TokenReader, unquote } from '@sqlpipe/sql';
import { PLAIN_NAME } from '../parser/names.js';
import { wordsWith } from '../parser/words.js';

/** What a name stands for, which decides how another name has to be written there. */
export type NameUsage =
  | 'name' // one token, in any quotes or bare
  | 'table' // after FROM: a bare name may contain dots
  | 'qualifier' // before the dot of a column
  | 'quoted-qualifier'; // before the dot, inside the quotes of `"trades.price"`

type TableName = NameSpan & { readonly usage: NameUsage };

const NO_ALIAS = wordsWith('reserved', 'no alias');
const NOT_BARE = wordsWith('reserved', 'no alias', 'before table');

/** Whether a name needs no quotes in any position of a statement or a query. */
export const isBareName = (name: string): boolean => PLAIN_NAME.test(name) && !NOT_BARE.has(name);

/** The words after which a quoted name is not an alias. */
const BEFORE_COLUMN = wordsWith('reserved', 'before column');
BEFORE_COLUMN.delete('as');

/** The maximum length of a chain of names with dots, in UTF-16 code units: no name of a table is longer. */
const MAX_QUALIFIER_LENGTH = 400;

class TableScope {
  /** The names that can precede its columns: true for the name of a table, false for an alias or an expression. */
  readonly tables = new NameMap<boolean>();
  /** The names before the dots of columns that are not resolved yet. */
  pending = new NameMap<TableName[]>();
  /** The number of tokens so far; a name is counted once. */
  tokenCount = 0;
  /** Whether the parentheses contain only a table's name, as in `FROM (trades)`. Then the outer query can use that name before columns. */
  holdsOnlyTable = false;
}

/** Collects the names of tables. A `ReferenceFinder` calls it while it walks over the tokens of a statement. */
export class QueryNames {
  readonly #found: TableName[] = [];
  /** The current queries, one for each open parenthesis; an expression in parentheses has the query that contains it. */
  readonly #scopes = [new TableScope()];
  #last: Token | undefined;

  names(): TableName[] {
    for (const scope of this.#scopes) this.#resolve(scope);
    const sorted = this.#found.sort((a, b) => a.start - b.start || b.end - a.end);
    const names: TableName[] = [];
    // In a table name with dots, such as `fx.usd`, a part may look like another table. So names within a name are skipped.
    for (const name of sorted) if (name.start >= (names.at(-1)?.end ?? 0)) names.push(name);
    return names;
  }

  open(isQuery: boolean): void {
    this.#scopes.push(isQuery ? new TableScope() : this.#scope);
  }

  /** @param ahead the tokens after the closing parenthesis, possibly an alias */
  close(ahead: TokenReader): void {
    const inner = this.#scopes.pop() as TableScope;
    const scope = this.#scope;
    if (inner === scope) return;
    this.#resolve(inner);
    scope.pending = mergePending(scope.pending, inner.pending); // the other names may belong to the outer query
    const alias = aliasIn(ahead);
    if (alias !== undefined) scope.tables.set(alias, false);
    else if (inner.holdsOnlyTable)
      for (const [key, isTable] of inner.tables) if (!scope.tables.has(key)) scope.tables.set(key, isTable);
    scope.holdsOnlyTable = inner.holdsOnlyTable && scope.tokenCount === 1 && ahead.peek()?.text === ')';
  }

  nextOperand(): void {
    this.#resolve(this.#scope);
    this.#scope.tables.clear();
  }

  /** @param isTable false for a common table expression @param ahead the tokens after the name */
  addTable(table: NameSpan, isTable: boolean, ahead: TokenReader): void {
    if (isTable) this.#found.push({ ...table, usage: 'table' });
    const alias = aliasIn(ahead);
    const scope = this.#scope;
    scope.tables.set(alias ?? table.name, alias === undefined && isTable);
    scope.holdsOnlyTable = scope.tokenCount === 1 && ahead.peek()?.text === ')';
  }

  addBase(base: NameSpan): void {
    this.#found.push({ ...base, usage: 'name' });
  }

  /** Records the next token, which may start a column with the name of its table. */
  addToken(ahead: TokenReader): void {
    const token = ahead.peek() as Token;
    const last = this.#last;
    this.#last = token;
    const scope = this.#scope;
    scope.tokenCount++;
    if (token.type === 'punctuation' || /^\d/.test(token.text) || (last && isDot(last, token.start - 1))) return;
    const name =
      qualifierIn(ahead) ?? (token.type === 'name' && mayBeColumn(last) ? quotedQualifier(token) : undefined);
    if (name) addPending(scope.pending, name.name, [name]);
  }

  #resolve({ tables, pending }: TableScope): void {
    for (const [key, isTable] of tables) {
      if (isTable) for (const name of pending.get(key) ?? []) this.#found.push(name);
      pending.delete(key);
    }
  }

  get #scope(): TableScope {
    return this.#scopes.at(-1) as TableScope;
  }
}

/** If names with dots come next, all except the last: `fx.usd` of `fx.usd.price`. */
function qualifierIn(ahead: TokenReader): TableName | undefined {
  const { start, text } = ahead.peek() as Token;
  let end = start + text.length;
  let name = unquote(text);
  for (let distance = 1; end - start < MAX_QUALIFIER_LENGTH; distance += 2) {
    if (!isDot(ahead.peek(distance), end)) return;
    const part = ahead.peek(distance + 1);
    if (part?.start !== end + 1 || (part.type === 'punctuation' && part.text !== '*')) return;
    if (!isDot(ahead.peek(distance + 2), part.start + part.text.length))
      return { name, start, end, usage: 'qualifier' };
    name += `.${unquote(part.text)}`;
    end = part.start + part.text.length;
  }
  return;
}

/** `trades` of `"trades.price"`. No name of a column contains a dot, so the quotes do not change the meaning. */
function quotedQualifier({ text, start }: Token): TableName | undefined {
  const name = text.slice(1, text.lastIndexOf('.'));
  return name && text.includes('.')
    ? { name, start: start + 1, end: start + 1 + name.length, usage: 'quoted-qualifier' }
    : undefined;
}

/** Whether a quoted name after a token may be a column. After an expression, and after AS, it is an alias. */
const mayBeColumn = (last: Token | undefined): boolean =>
  last?.type === 'punctuation' ? last.text !== ')' && last.text !== ']' : BEFORE_COLUMN.has(keywordOf(last));

const isDot = (token: Token | undefined, start: number): boolean => token?.text === '.' && token.start === start;

function aliasIn(ahead: TokenReader): string | undefined {
  const token = ahead.word === 'AS' ? ahead.peek(1) : ahead.peek();
  if (!token || token.type === 'punctuation' || /^[\d@]/.test(token.text)) return undefined;
  return NO_ALIAS.has(keywordOf(token)) ? undefined : unquote(token.text);
}

/** Adds the smaller map to the larger one. Otherwise, nested queries would take quadratic time. */
function mergePending(one: TableScope['pending'], other: TableScope['pending']): TableScope['pending'] {
  if (one.size < other.size) return mergePending(other, one);
  for (const [key, names] of other) addPending(one, key, names);
  return one;
}

function addPending(pending: TableScope['pending'], key: string, names: TableName[]): void {
  const existing = pending.get(key) ?? [];
  const [long, short] = existing.length < names.length ? [names, existing] : [existing, names];
  for (const name of short) long.push(name);
  pending.set(key, long);
}
