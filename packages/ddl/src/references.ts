/*!
 * Finds what a view, or a table created from a query, reads from: the names in positions where a table may be. It uses
 * only tokens and no grammar, so that future syntax does no harm. Each rule beyond standard SQL was observed on QuestDB
 * 9.3.4.
 */
import {
  foldCase,
  identify,
  isObject,
  type Kind,
  keywordOf,
  type NameSpan,
  serverTokens,
  significantTokens,
  type Token,
  TokenReader,
} from '@sqlpipe/sql';
import type { QueryNames } from './query-names.js';

/**
 * Finds the objects that a statement refers to: the objects that a query reads from, the base of a materialized view, and
 * the table after LIKE.
 *
 * The names are as written, without quotes and without the schema `public`, in the order of their first use. A common
 * table expression or a variable that is not used reads nothing. Statements that create no object have no references.
 *
 * @param isView whether a name is that of a view. A view takes precedence over a common table expression of the same name;
 * a table does not.
 */
export function findReferences(statement: string, isView: (name: string) => boolean = () => false): string[] {
  if (!hasReferences(identify(statement).kind, statement)) return [];
  const findWith = (tokens: Iterable<Token>) => new ReferenceFinder(tokens, isView).reads();
  // With a quote in a block comment, SQL and the server may read different tokens. The wrong reading has no end of the body.
  const reads = findWith(significantTokens(statement)) ?? findWith(serverTokens(statement, '9.3.2'));
  return [...(reads ?? [])];
}

/** Whether a statement may refer to another object. */
export const hasReferences = (kind: Kind, statement: string): boolean =>
  isObject(kind) && (kind !== 'table' || MAY_REFERENCE.test(statement));

/** The keywords of a table that refers to another. Few statements have one, and tokenizing is slow. */
const MAY_REFERENCE = /\b(?:AS|LIKE)\b/i;

/** The state of the parser on one level of parentheses. */
type State =
  | 'header' // of CREATE, up to AS
  | 'header-with'
  | 'base' // after WITH BASE and LIKE
  | 'like' // before LIKE, in parentheses after the name of a table
  | 'start' // of a query
  | 'with' // before the name of a common table expression
  | 'named' // after the name of a common table expression
  | 'declare' // before a variable
  | 'value' // in the value of a variable
  | 'grouped' // in parentheses around the value of a variable, before its first name
  | 'columns' // of SELECT, up to FROM
  | 'show'
  | 'table' // before a table
  | 'from' // after a table, before a possible next one
  | 'rest' // from WHERE on
  | 'expression'; // in parentheses that contain no query

const SET_OPERATIONS: Record<string, State> = { UNION: 'start', EXCEPT: 'start', INTERSECT: 'start' };
const CLAUSES = ['WHERE', 'LATEST', 'SAMPLE', 'ORDER', 'GROUP', 'LIMIT', 'PIVOT', 'WINDOW'];
const QUERY: Record<string, State> = { SELECT: 'columns', WITH: 'with', DECLARE: 'declare' };

/** The keywords of each state, and the state after each keyword. */
const TRANSITIONS: Record<State, Record<string, State>> = {
  header: { AS: 'start', WITH: 'header-with' },
  'header-with': { BASE: 'base' },
  base: {},
  like: { LIKE: 'base' },
  start: { ...QUERY, SHOW: 'show', ALL: 'start', DISTINCT: 'start' },
  with: {},
  named: {},
  declare: { ...QUERY, OVERRIDABLE: 'declare' },
  value: QUERY,
  grouped: {},
  columns: { FROM: 'table', ...SET_OPERATIONS },
  show: { FROM: 'table', TABLE: 'table', VIEW: 'table' },
  table: {},
  from: { JOIN: 'table', ...SET_OPERATIONS, ...Object.fromEntries(CLAUSES.map(word => [word, 'rest'])) },
  rest: { JOIN: 'table', ...SET_OPERATIONS }, // JOIN after WINDOW, and after the old form of LATEST BY
  expression: {},
};

/** The state after a comma; without an entry it stays the same. */
const COMMA_TRANSITIONS: Partial<Record<State, State>> = { from: 'table', start: 'with', value: 'declare' };

/**
 * What is read, in order: names, and definitions that stand for everything they read. Definitions are resolved only at
 * the end, and each once: copying the names into each definition would take quadratic time and memory for a chain.
 */
type Reads = (string | Definition)[];

/** A name after FROM, and whether it cannot be that of a common table expression. */
interface TableSpan extends NameSpan {
  isTable: boolean;
}

/** A common table expression or a variable. What it reads counts only if it is used. */
interface Definition {
  reads: Reads;
  /** The first name in the value of a variable: a table if the variable is used as one, otherwise a column. */
  table?: TableSpan | undefined;
}

/** A query or an expression in parentheses. */
interface Level {
  state: State;
  find: Reads;
  /** The folded names of the definitions of this level; a name occurs once per definition. */
  defined?: string[];
  /** The definition that is being read, with its folded name. */
  defining?: [name: string, definition: Definition];
}

/** Whether a value of a variable is read of which no name was read yet. */
const isUnnamed = (level: Level): level is Level & { defining: [name: string, definition: Definition] } =>
  (level.state === 'value' || level.state === 'grouped') &&
  level.defining !== undefined &&
  level.defining[1].table === undefined;

/**
 * Walks once over the tokens of a statement. It has its own stack, because parentheses may nest deeper than the call
 * stack.
 */
export class ReferenceFinder {
  readonly #reads: Reads = [];
  readonly #levels: Level[] = [{ state: 'header', find: this.#reads }];
  /** The folded names of the common table expressions that were read. */
  readonly expressions = new Set<string>();
  /** The definitions that are visible on the current level, by folded name; the innermost one is the last. */
  readonly #scope = new Map<string, Definition[]>();
  readonly #tokens: TokenReader;

  /** @param names collects the positions of names, if they are needed */
  constructor(
    tokens: Iterable<Token>,
    private readonly isView: (name: string) => boolean,
    private readonly names?: QueryNames,
  ) {
    this.#tokens = new TokenReader(tokens);
  }

  /** Returns the names that are read; undefined if a parenthesis is unclosed. */
  reads(): Set<string> | undefined {
    for (let token = this.#tokens.peek(); token; token = this.#tokens.peek()) this.#consume(token);
    return this.#levels.length === 1 ? resolveNames(this.#reads) : undefined;
  }

  get #level(): Level {
    return this.#levels.at(-1) as Level;
  }

  /** The list that references are added to: that of the current definition, or of the query. */
  get #sink(): Reads {
    const { state, defining, find } = this.#level;
    return defining && (state === 'value' || state === 'named') ? defining[1].reads : find;
  }

  #consume(token: Token): void {
    const level = this.#level;
    if (level.state !== 'header') this.names?.addToken(this.#tokens);
    if (token.type !== 'sign') return this.#consumeWord(token, level);
    this.#tokens.next();
    if (token.text === '(') this.#open(level);
    else if (token.text === ')') this.#close();
    else if (token.text === ',') level.state = COMMA_TRANSITIONS[level.state] ?? level.state;
  }

  #consumeWord(token: Token, level: Level): void {
    const { state } = level;
    const next = TRANSITIONS[state][keywordOf(token)];
    const isVariable = token.text.startsWith('@');
    if (!next && !isVariable && state !== 'declare') {
      if (state === 'with') return this.#beginExpression(level);
      if (isUnnamed(level)) {
        level.defining[1].table = this.#readTableName();
        return;
      }
      if (state === 'start' || state === 'table') return this.#readTable(level);
      if (state === 'base') return this.#readBase(level);
    }
    this.#tokens.next();
    if (next && keywordOf(token) in SET_OPERATIONS) this.names?.nextOperand();
    if (next) level.state = next;
    else if (state === 'declare') this.#declare(token.text, level);
    else if (isVariable) this.#useVariable(token.text, level);
  }

  #open(level: Level): void {
    const { state } = level;
    const { word } = this.#tokens;
    const isQuery = state === 'start' || state === 'table' || state === 'named' || word in QUERY;
    const isGroup = !isQuery && isUnnamed(level);
    const inside = isQuery
      ? 'start'
      : isGroup
        ? 'grouped'
        : state === 'header' && word === 'LIKE'
          ? 'like'
          : 'expression';
    this.#levels.push({ state: inside, find: this.#sink, ...(isGroup && { defining: level.defining }) });
    this.names?.open(inside === 'start');
    if (state === 'table') level.state = 'from';
    // After the parentheses of the body, the rest of CREATE follows.
    if (state === 'start') level.state = this.#levels.length > 2 ? 'from' : 'rest';
  }

  #close(): void {
    if (this.#levels.length > 1) {
      for (const name of this.#levels.pop()?.defined ?? []) this.#scope.get(name)?.pop();
      this.names?.close(this.#tokens);
    }
    const level = this.#level;
    if (level.state !== 'named' || !level.defining) return;
    this.#define(level); // not earlier: in the expression's own body the name still means a table
    level.state = 'start';
  }

  #beginExpression(level: Level): void {
    const name = foldCase(this.#tokens.readName().name);
    this.expressions.add(name);
    level.defining = [name, { reads: [] }];
    level.state = 'named';
  }

  #declare(variable: string, level: Level): void {
    level.defining = [foldCase(variable), { reads: [] }];
    this.#define(level);
    level.state = 'value';
  }

  #define(level: Level): void {
    const [name, definition] = level.defining as [string, Definition];
    const scope = this.#scope.get(name);
    if (scope) scope.push(definition);
    else this.#scope.set(name, [definition]);
    level.defined ??= [];
    level.defined.push(name);
  }

  #useVariable(variable: string, level: Level): void {
    const used = this.#findDefinition(variable);
    if (used) this.#sink.push(used);
    if (isUnnamed(level)) level.defining[1].table = used?.table;
    if (level.state !== 'start' && level.state !== 'table') return;
    if (used?.table !== undefined) this.#addReference(used.table);
    level.state = 'from';
  }

  #readTable(level: Level): void {
    const table = this.#readTableName();
    if (this.#tokens.peek()?.text !== '(') this.#addReference(table); // else it is a function
    level.state = 'from';
  }

  #readBase(level: Level): void {
    const base = this.#tokens.readName();
    level.find.push(base.name);
    this.names?.addBase(base);
    level.state = 'header';
  }

  /** Only a name without a schema, bare or in double quotes, can be that of a common table expression. */
  #readTableName(): TableSpan {
    const first = this.#tokens.peek();
    const table = this.#tokens.readName();
    return { ...table, isTable: first?.start !== table.position || first.text.startsWith("'") };
  }

  #addReference(table: TableSpan): void {
    const isTable = table.isTable || this.isView(table.name);
    const definition = isTable ? undefined : this.#findDefinition(table.name);
    this.#sink.push(definition ?? table.name);
    this.names?.addTable(table, definition === undefined, this.#tokens);
  }

  #findDefinition(name: string): Definition | undefined {
    return this.#scope.get(foldCase(name))?.at(-1);
  }
}

/** Collects the names that are read directly or through definitions, in order. A definition may use itself. */
function resolveNames(reads: Reads): Set<string> {
  const names = new Set<string>();
  const followed = new Set<Definition>();
  const path = [reads.values()];
  for (let at = path.at(-1); at; at = path.at(-1)) {
    const { done, value } = at.next();
    if (done) path.pop();
    else if (typeof value === 'string') names.add(value);
    else if (!followed.has(value)) {
      followed.add(value);
      path.push(value.reads.values());
    }
  }
  return names;
}
