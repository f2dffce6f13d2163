/*! A state machine with a state for each level of parentheses. It also reads unknown syntax. Its rules were observed on QuestDB 9.3.4. */
import {
  addToList,
  identify,
  isObjectKind,
  type Kind,
  keywordOf,
  NameMap,
  NameSet,
  type NameSpan,
  serverTokens,
  significantTokens,
  type Token,
  TokenReader,
} from '@sqlpipe/sql';
import { wordsWith } from '../parser/words.js';
import type { QueryNames } from './query-names.js';

/**
 * Finds the objects that a CREATE refers to: those that its query reads, the base of a materialized view, and the table after LIKE. Empty
 * for any other statement, and if a parenthesis is unclosed.
 * @param isView whether a name is that of a view: unlike a table, a view hides a common table expression of the same name
 * @returns names without quotes and without the schema `public`, in the order of their first use
 */
export function findReferences(statement: string, isView: (name: string) => boolean = () => false): string[] {
  if (!mayHaveReferences(identify(statement).kind, statement)) return [];
  const findIn = (tokens: Iterable<Token>) => new ReferenceFinder(tokens, isView).findNames();
  // If a block comment contains a quote, SQL and the server may read different tokens. With the wrong tokens, a parenthesis stays open.
  return [...(findIn(significantTokens(statement)) ?? findIn(serverTokens(statement)) ?? [])];
}

/** Finds the objects that a query reads, like `findReferences` for a view with this query. */
export const findReferencesOfQuery = (query: string): string[] => findReferences(`CREATE VIEW v AS (\n${query}\n);`);

/** A fast check. Most tables fail it, and are not tokenized. */
export const mayHaveReferences = (kind: Kind, statement: string): boolean =>
  isObjectKind(kind) && (kind !== 'table' || /\b(?:AS|LIKE)\b/i.test(statement));

/** The part of the syntax that is being read on one level of parentheses. It decides what the next token means. */
type State =
  | 'header' // of CREATE, up to AS
  | 'header-with'
  | 'base' // after WITH BASE or LIKE
  | 'like' // before LIKE, in parentheses after the name of a table
  | 'start' // of a query, and after each query of its WITH
  | 'before-cte-name'
  | 'before-cte-query'
  | 'declare' // before a variable
  | 'value' // in the value of a variable
  | 'grouped' // in parentheses around the value of a variable, before its first name
  | 'columns' // of SELECT, up to FROM
  | 'show'
  | 'before-table'
  | 'after-table' // and before a possible next one
  | 'rest' // from WHERE on, and after the body of CREATE
  | 'expression'; // in parentheses that contain no query

const SET_OPERATIONS: Record<string, State> = { UNION: 'start', EXCEPT: 'start', INTERSECT: 'start' };
const QUERY: Record<string, State> = { SELECT: 'columns', WITH: 'before-cte-name', DECLARE: 'declare' };

/** The state after a keyword or a comma, if it changes. In state `start`, a comma follows a query of WITH. */
const TRANSITIONS: Record<State, Record<string, State>> = {
  header: { AS: 'start', WITH: 'header-with' },
  'header-with': { BASE: 'base' },
  base: {},
  like: { LIKE: 'base' },
  start: { ...QUERY, SHOW: 'show', ALL: 'start', DISTINCT: 'start', ',': 'before-cte-name' },
  'before-cte-name': {},
  'before-cte-query': {},
  declare: { ...QUERY, OVERRIDABLE: 'declare' },
  value: { ...QUERY, ',': 'declare' },
  grouped: {},
  columns: { FROM: 'before-table', ...SET_OPERATIONS },
  show: { FROM: 'before-table', TABLE: 'before-table', VIEW: 'before-table' },
  'before-table': {},
  'after-table': {
    ...{ JOIN: 'before-table', ',': 'before-table' },
    ...SET_OPERATIONS,
    ...Object.fromEntries(Array.from(wordsWith('clause'), word => [word.toUpperCase(), 'rest'])),
  },
  rest: { JOIN: 'before-table', ...SET_OPERATIONS }, // JOIN after WINDOW, and after the old form of LATEST BY
  expression: {},
};

/** What a query reads, in order. If the names of a named query were copied to each use, a chain of them would take quadratic time. */
type Reads = (string | NamedQuery)[];

interface TableSpan extends NameSpan {
  /** Whether the name has a schema or single quotes, which no name of a common table expression has. */
  mustBeTable: boolean;
}

/** A common table expression (CTE) or a variable. What it reads counts only if it is used. */
interface NamedQuery {
  readonly name: string;
  readonly reads: Reads;
  /** The first name in the value of a variable. If the variable stands where a table may be, this name is a table, otherwise a column. */
  firstName?: TableSpan | undefined;
}

/** The statement itself, or what is in a pair of parentheses. */
interface Level {
  state: State;
  /** Without what is read in definitions. */
  reads: Reads;
  /** The names of the definitions of this level; a name occurs once per definition. */
  defined?: string[];
  defining?: NamedQuery;
}

const awaitsFirstName = (level: Level): level is Level & { defining: NamedQuery } =>
  level.defining !== undefined && !level.defining.firstName && ['value', 'grouped'].includes(level.state);

/** A stack replaces recursion, because parentheses may nest deeper than calls can. */
export class ReferenceFinder {
  readonly #reads: Reads = [];
  readonly #levels: Level[] = [{ state: 'header', reads: this.#reads }];
  readonly cteNames = new NameSet();
  /** By name: the definitions that the current level can use. The innermost is the last of its list, and hides the others. */
  readonly #scope = new NameMap<NamedQuery[]>();
  readonly #tokens: TokenReader;

  /** @param names collects where names are, if that is needed */
  constructor(
    tokens: Iterable<Token>,
    private readonly isView: (name: string) => boolean,
    private readonly names?: QueryNames,
  ) {
    this.#tokens = new TokenReader(tokens);
  }

  /** The names of the tables and views that the text reads. Undefined if a parenthesis is unclosed. */
  findNames(): Set<string> | undefined {
    for (let token = this.#tokens.peek(); token; token = this.#tokens.peek()) this.#consume(token);
    return this.#levels.length === 1 ? resolveNames(this.#reads) : undefined;
  }

  get #level(): Level {
    return this.#levels.at(-1) as Level;
  }

  /** The list for the next reference: of the current definition or, without one, of the level. */
  get #currentReads(): Reads {
    const { state, defining, reads } = this.#level;
    return defining && (state === 'value' || state === 'before-cte-query') ? defining.reads : reads;
  }

  #consume(token: Token): void {
    const level = this.#level;
    if (level.state !== 'header') this.names?.addToken(this.#tokens);
    if (token.type !== 'punctuation') return this.#consumeWord(token, level);
    this.#tokens.next();
    if (token.text === '(') this.#open(level);
    else if (token.text === ')') this.#close();
    else level.state = TRANSITIONS[level.state][token.text] ?? level.state;
  }

  #consumeWord(token: Token, level: Level): void {
    const { state } = level;
    const next = TRANSITIONS[state][keywordOf(token)];
    const isVariable = token.text.startsWith('@');
    if (!next && !isVariable && this.#readName(level)) return;
    this.#tokens.next();
    if (next && keywordOf(token) in SET_OPERATIONS) this.names?.nextOperand();
    if (next) level.state = next;
    else if (state === 'declare') {
      level.defining = { name: token.text, reads: [] };
      this.#define(level);
      level.state = 'value';
    } else if (isVariable) this.#useVariable(token.text, level);
  }

  /** Reads a name where the state says what it is the name of; returns whether it has. */
  #readName(level: Level): boolean {
    const { state } = level;
    if (state === 'before-cte-name') {
      const { name } = this.#tokens.readName();
      this.cteNames.add(name);
      level.defining = { name, reads: [] };
      level.state = 'before-cte-query';
    } else if (awaitsFirstName(level)) level.defining.firstName = this.#readTableName();
    else if (state === 'start' || state === 'before-table') {
      const table = this.#readTableName();
      if (this.#tokens.peek()?.text !== '(') this.#addReference(table); // before a parenthesis, it is that of a function
      level.state = 'after-table';
    } else if (state === 'base') {
      const base = this.#tokens.readName();
      level.reads.push(base.name);
      this.names?.addBase(base);
      level.state = 'header';
    } else return false;
    return true;
  }

  #open(level: Level): void {
    const { state } = level;
    const { word } = this.#tokens;
    const isQuery = state === 'start' || state === 'before-table' || state === 'before-cte-query' || word in QUERY;
    const isGroup = !isQuery && awaitsFirstName(level);
    const isLike = state === 'header' && word === 'LIKE';
    const inside = isQuery ? 'start' : isGroup ? 'grouped' : isLike ? 'like' : 'expression';
    this.#levels.push({ state: inside, reads: this.#currentReads, ...(isGroup && { defining: level.defining }) });
    this.names?.open(inside === 'start');
    if (state === 'before-table') level.state = 'after-table';
    // The outermost parentheses around a query are those of CREATE. Its other clauses follow them.
    if (state === 'start') level.state = this.#levels.length > 2 ? 'after-table' : 'rest';
  }

  #close(): void {
    if (this.#levels.length > 1) {
      for (const name of this.#levels.pop()?.defined ?? []) this.#scope.get(name)?.pop();
      this.names?.close(this.#tokens);
    }
    const level = this.#level;
    if (level.state !== 'before-cte-query' || !level.defining) return;
    this.#define(level); // only now: inside a common table expression, its own name still means a table
    level.state = 'start';
  }

  /** Makes the current definition usable on this level and on the levels in it. */
  #define(level: Level): void {
    const definition = level.defining as NamedQuery;
    addToList(this.#scope, definition.name, definition);
    level.defined ??= [];
    level.defined.push(definition.name);
  }

  /** Adds what the value of a variable reads. If the variable stands where a table may be, the first name of its value is a table. */
  #useVariable(variable: string, level: Level): void {
    const definition = this.#scope.get(variable)?.at(-1);
    if (definition) this.#currentReads.push(definition);
    if (awaitsFirstName(level)) level.defining.firstName = definition?.firstName;
    if (level.state !== 'start' && level.state !== 'before-table') return;
    if (definition?.firstName !== undefined) this.#addReference(definition.firstName);
    level.state = 'after-table';
  }

  #readTableName(): TableSpan {
    const first = this.#tokens.peek();
    const table = this.#tokens.readName();
    return { ...table, mustBeTable: first?.start !== table.start || first.text.startsWith("'") };
  }

  #addReference(table: TableSpan): void {
    const isTable = table.mustBeTable || this.isView(table.name);
    const definition = isTable ? undefined : this.#scope.get(table.name)?.at(-1);
    this.#currentReads.push(definition ?? table.name);
    this.names?.addTable(table, definition === undefined, this.#tokens);
  }
}

/** Collects the names that are read directly or through named queries, which may refer to each other in a cycle. */
function resolveNames(reads: Reads): Set<string> {
  const names = new Set<string>();
  const resolved = new Set<NamedQuery>();
  const stack = [reads.values()];
  for (let iterator = stack.at(-1); iterator; iterator = stack.at(-1)) {
    const { done, value } = iterator.next();
    if (done) stack.pop();
    else if (typeof value === 'string') names.add(value);
    else if (!resolved.has(value)) {
      resolved.add(value);
      stack.push(value.reads.values());
    }
  }
  return names;
}
