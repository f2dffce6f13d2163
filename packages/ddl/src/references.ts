/*!
 * What a view, or a table made by a query, reads from, found from its tokens alone: names where a table may stand. There is no grammar, so that
 * syntax to come does no harm. Each rule beyond plain SQL was observed on QuestDB 9.3.4.
 */
import {
  displayName,
  foldCase,
  identify,
  isObject,
  type Kind,
  keywordOf,
  type LocatedName,
  serverTokens,
  significantTokens,
  type Token,
} from '@sqlpipe/sql';
import { LimitError } from './limit-error.js';
import type { QueryNames } from './query-names.js';
import { TokenReader } from './token-reader.js';

/** So many parentheses may be open at once, and so many common table expressions and variables be defined. */
const MAX_NESTING = 200_000;

/**
 * The names that the query of a view, materialized view or live view reads from, and the base that it names; of a table
 * those that it is made from or like.
 *
 * They come as written, without quotes and without the schema `public`, in the order of their first use. A common table
 * expression or a variable that is not used reads nothing. Other statements have no references.
 *
 * @param isView whether a name is that of a view: a view comes before a common table expression of that name, a table after it
 * @throws LimitError where 200,000 parentheses are open at once, or as many expressions and variables defined
 */
export function findReferences(statement: string, isView: (name: string) => boolean = () => false): string[] {
  const identity = identify(statement);
  if (!hasReferences(identity.kind, statement)) return [];
  const findWith = (tokens: Iterable<Token>) => new ReferenceFinder(tokens, isView, displayName(identity)).reads();
  // Quotes in a block comment make two readings; the wrong one swallows the end of the body.
  const reads = findWith(significantTokens(statement)) ?? findWith(serverTokens(statement, '9.3.2'));
  return [...(reads ?? [])];
}

/** Whether a statement can read from anything. */
export const hasReferences = (kind: Kind, statement: string): boolean =>
  isObject(kind) && (kind !== 'table' || MAY_REFERENCE.test(statement));

/** Words that a table made from another contains; few do, and tokenizing is slow. */
const MAY_REFERENCE = /\b(?:AS|LIKE)\b/i;

/** The state of the parser on one level of parentheses. */
type State =
  | 'header' // of CREATE, up to AS
  | 'header-with'
  | 'base' // after WITH BASE and LIKE
  | 'like' // before LIKE, in the parentheses of a table
  | 'start' // of a query
  | 'with' // before the name of a common table expression
  | 'named' // after that name
  | 'declare' // before a variable
  | 'value' // in the value of a variable
  | 'columns' // of SELECT, up to FROM
  | 'show'
  | 'table' // where a table must follow
  | 'from' // after a table, where another may follow
  | 'rest' // from WHERE on
  | 'expression'; // in parentheses that are no query

const SET_OPERATIONS: Record<string, State> = { UNION: 'start', EXCEPT: 'start', INTERSECT: 'start' };
const CLAUSES = ['WHERE', 'LATEST', 'SAMPLE', 'ORDER', 'GROUP', 'LIMIT', 'PIVOT', 'WINDOW'];
const QUERY: Record<string, State> = { SELECT: 'columns', WITH: 'with', DECLARE: 'declare' };

/** The words that mean something in a place, and the place after them. */
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
  columns: { FROM: 'table', ...SET_OPERATIONS },
  show: { FROM: 'table', TABLE: 'table', VIEW: 'table' },
  table: {},
  from: { JOIN: 'table', ...SET_OPERATIONS, ...Object.fromEntries(CLAUSES.map(word => [word, 'rest'])) },
  rest: { JOIN: 'table', ...SET_OPERATIONS }, // JOIN after WINDOW, and after the old form of LATEST BY
  expression: {},
};

/** Where a comma leads. */
const COMMA_TRANSITIONS: Partial<Record<State, State>> = { from: 'table', start: 'with', value: 'declare' };

/**
 * What is read, in order: names, and definitions for all that those read. Only at the end are these followed, each
 * once: adding up what each one reads would take quadratic time and memory where each is made from the one before.
 */
type Reads = (string | Definition)[];

/** A common table expression or a variable: what it reads is read where it is used. */
interface Definition {
  reads: Reads;
  /** What a variable's value begins with: a table where the variable is used as one, else a column. */
  table?: LocatedName | undefined;
}

/** A query or an expression in parentheses. */
interface Level {
  state: State;
  find: Reads;
  /** The folded names that are defined here, as often as they are. */
  defined?: string[];
  /** The folded name and the definition that we are in. */
  defining?: [name: string, definition: Definition];
}

/** One way through the tokens of a statement. It has a stack of its own: parentheses may be deeper than the call stack. */
export class ReferenceFinder {
  readonly #reads: Reads = [];
  readonly #levels: Level[] = [{ state: 'header', find: this.#reads }];
  /** What can be used here, by folded name: what this level and those around it define, the innermost last. */
  readonly #scope = new Map<string, Definition[]>();
  #definitions = 0;
  readonly #tokens: TokenReader;

  /**
   * @param title what the statement is called in messages
   * @param names collects where the query names its tables, where that is needed
   */
  constructor(
    tokens: Iterable<Token>,
    private readonly isView: (name: string) => boolean,
    private readonly title: string,
    private readonly names?: QueryNames,
  ) {
    this.#tokens = new TokenReader(tokens);
  }

  /** What is read, or undefined where a parenthesis is left open. */
  reads(): Set<string> | undefined {
    for (let token = this.#tokens.peek(); token; token = this.#tokens.peek()) this.#consume(token);
    return this.#levels.length === 1 ? resolveNames(this.#reads) : undefined;
  }

  get #level(): Level {
    return this.#levels.at(-1) as Level;
  }

  /** Where references go: to the variable whose value we are in, or to the query. */
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
      if (state === 'value' && level.defining && level.defining[1].table === undefined) {
        level.defining[1].table = this.#tokens.readName();
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
    const inside = isQuery ? 'start' : state === 'header' && word === 'LIKE' ? 'like' : 'expression';
    if (this.#levels.length > MAX_NESTING) throw this.#limitError('nested parentheses');
    this.#levels.push({ state: inside, find: this.#sink });
    this.names?.open(inside === 'start');
    if (state === 'table') level.state = 'from';
    // After the body's own parentheses comes the end of CREATE.
    if (state === 'start') level.state = this.#levels.length > 2 ? 'from' : 'rest';
  }

  #close(): void {
    if (this.#levels.length > 1) {
      for (const name of this.#levels.pop()?.defined ?? []) this.#scope.get(name)?.pop();
      this.names?.close(this.#tokens);
    }
    const level = this.#level;
    if (level.state !== 'named' || !level.defining) return;
    this.#define(level); // not before: in its own body the name is still a table's
    level.state = 'start';
  }

  #beginExpression(level: Level): void {
    level.defining = [foldCase(this.#tokens.readName().name), { reads: [] }];
    level.state = 'named';
  }

  #declare(variable: string, level: Level): void {
    level.defining = [foldCase(variable), { reads: [] }];
    this.#define(level);
    level.state = 'value';
  }

  #define(level: Level): void {
    const [name, definition] = level.defining as [string, Definition];
    if (++this.#definitions > MAX_NESTING) throw this.#limitError('common table expressions and variables');
    const scope = this.#scope.get(name);
    if (scope) scope.push(definition);
    else this.#scope.set(name, [definition]);
    level.defined ??= [];
    level.defined.push(name);
  }

  #useVariable(variable: string, level: Level): void {
    const used = this.#findDefinition(variable);
    if (used) this.#sink.push(used);
    if (level.state === 'value' && level.defining) level.defining[1].table ??= used?.table;
    if (level.state !== 'start' && level.state !== 'table') return;
    if (used?.table !== undefined) this.#addReference(used.table);
    level.state = 'from';
  }

  #readTable(level: Level): void {
    const table = this.#tokens.readName();
    if (this.#tokens.peek()?.text !== '(') this.#addReference(table); // else it is a function
    level.state = 'from';
  }

  #readBase(level: Level): void {
    const base = this.#tokens.readName();
    level.find.push(base.name);
    this.names?.addBase(base);
    level.state = 'header';
  }

  #addReference(table: LocatedName): void {
    const definition = this.isView(table.name) ? undefined : this.#findDefinition(table.name);
    this.#sink.push(definition ?? table.name);
    this.names?.addTable(table, definition === undefined, this.#tokens);
  }

  #findDefinition(name: string): Definition | undefined {
    return this.#scope.get(foldCase(name))?.at(-1);
  }

  readonly #limitError = (what: string): LimitError =>
    new LimitError(
      `${this.title}: more than ${MAX_NESTING} ${what}: the objects that it reads from cannot be determined`,
    );
}

/** The names among what is read, and those that definitions among it read, in order; a definition may use itself. */
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
