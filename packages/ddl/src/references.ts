/*!
 * What a view, or a table made by a query, reads from, found from its tokens alone: names where a table may stand. There is no grammar, so that
 * syntax to come does no harm. Each rule beyond plain SQL was observed on QuestDB 9.3.4.
 */
import {
  foldCase,
  identify,
  isObject,
  type Kind,
  type LocatedName,
  meaningful,
  serverTokens,
  type Token,
  title,
  wordOf,
} from '@sqlpipe/sql';
import { Ahead } from './ahead.js';
import { LimitError } from './limit-error.js';
import type { QueryNames } from './query-names.js';

/** So many parentheses may be open at once, and so many common table expressions and variables be defined. */
const LIMIT = 200_000;

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
export function references(statement: string, isView: (name: string) => boolean = () => false): string[] {
  const identity = identify(statement);
  if (!hasReferences(identity.kind, statement)) return [];
  const walk = (tokens: Iterable<Token>) => new Walk(tokens, isView, title(identity)).reads();
  // Quotes in a block comment make two readings; the wrong one swallows the end of the body.
  const reads = walk(meaningful(statement)) ?? walk(serverTokens(statement, '9.3.2'));
  return [...(reads ?? [])];
}

/** Whether a statement can read from anything. */
export const hasReferences = (kind: Kind, statement: string): boolean =>
  isObject(kind) && (kind !== 'table' || COPIES.test(statement));

/** What a table has to hold to be made from another; few do, and tokens take their time. */
const COPIES = /\b(?:AS|LIKE)\b/i;

/** Where the walk stands on one level of parentheses. */
type Place =
  | 'header' // of CREATE, up to AS
  | 'header-with'
  | 'base' // behind WITH BASE and LIKE
  | 'like' // before LIKE, in the parentheses of a table
  | 'start' // of a query
  | 'with' // before the name of a common table expression
  | 'named' // behind that name
  | 'declare' // before a variable
  | 'value' // in the value of a variable
  | 'columns' // of SELECT, up to FROM
  | 'show'
  | 'table' // where a table must follow
  | 'from' // behind a table, where another may follow
  | 'rest' // from WHERE on
  | 'expression'; // in parentheses that are no query

const SET_OPERATIONS: Record<string, Place> = { UNION: 'start', EXCEPT: 'start', INTERSECT: 'start' };
const CLAUSES = ['WHERE', 'LATEST', 'SAMPLE', 'ORDER', 'GROUP', 'LIMIT', 'PIVOT', 'WINDOW'];
const QUERY: Record<string, Place> = { SELECT: 'columns', WITH: 'with', DECLARE: 'declare' };

/** The words that mean something in a place, and the place after them. */
const WORDS: Record<Place, Record<string, Place>> = {
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
  rest: { JOIN: 'table', ...SET_OPERATIONS }, // JOIN behind WINDOW, and behind LATEST BY as it once was
  expression: {},
};

/** Where a comma leads. */
const COMMA: Partial<Record<Place, Place>> = { from: 'table', start: 'with', value: 'declare' };

/**
 * What is read, in order: names, and definitions for all that those read. Only at the end are these followed, each once:
 * to add up what each one reads takes time and memory by the square where each is made from the one before.
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
  place: Place;
  reads: Reads;
  /** The folded names that are defined here, as often as they are. */
  defined?: string[];
  /** The folded name and the definition that we are in. */
  defining?: [name: string, definition: Definition];
}

/** One way through the tokens of a statement. It has a stack of its own: parentheses may be deeper than the call stack. */
export class Walk {
  readonly #reads: Reads = [];
  readonly #levels: Level[] = [{ place: 'header', reads: this.#reads }];
  /** What can be used here, by folded name: what this level and those around it define, the innermost last. */
  readonly #scope = new Map<string, Definition[]>();
  #definitions = 0;
  readonly #ahead: Ahead;

  /**
   * @param title what the statement is called in messages
   * @param names is told where the query names what, if somebody wants to know
   */
  constructor(
    tokens: Iterable<Token>,
    private readonly isView: (name: string) => boolean,
    private readonly title: string,
    private readonly names?: QueryNames,
  ) {
    this.#ahead = new Ahead(tokens);
  }

  /** What is read, or undefined where a parenthesis is left open. */
  reads(): Set<string> | undefined {
    for (let token = this.#ahead.peek(); token; token = this.#ahead.peek()) this.#take(token);
    return this.#levels.length === 1 ? namesOf(this.#reads) : undefined;
  }

  get #level(): Level {
    return this.#levels.at(-1) as Level;
  }

  /** Where references go: to the variable whose value we are in, or to the query. */
  get #sink(): Reads {
    const { place, defining, reads } = this.#level;
    return defining && (place === 'value' || place === 'named') ? defining[1].reads : reads;
  }

  #take(token: Token): void {
    const level = this.#level;
    if (level.place !== 'header') this.names?.seePart(this.#ahead);
    if (token.type !== 'sign') return this.#takeWord(token, level);
    this.#ahead.take();
    if (token.text === '(') this.#open(level);
    else if (token.text === ')') this.#close();
    else if (token.text === ',') level.place = COMMA[level.place] ?? level.place;
  }

  #takeWord(token: Token, level: Level): void {
    const { place } = level;
    const next = WORDS[place][wordOf(token)];
    const isVariable = token.text.startsWith('@');
    if (!next && !isVariable && place !== 'declare') {
      if (place === 'with') return this.#beginExpression(level);
      if (place === 'value' && level.defining && level.defining[1].table === undefined)
        return void (level.defining[1].table = this.#ahead.name());
      if (place === 'start' || place === 'table') return this.#table(level);
      if (place === 'base') return this.#base(level);
    }
    this.#ahead.take();
    if (wordOf(token) in SET_OPERATIONS && next) this.names?.nextOperand();
    if (next) level.place = next;
    else if (place === 'declare') this.#declare(token.text, level);
    else if (isVariable) this.#use(token.text, level);
  }

  #open(level: Level): void {
    const { place } = level;
    const { word } = this.#ahead;
    const isQuery = place === 'start' || place === 'table' || place === 'named' || word in QUERY;
    const inside = isQuery ? 'start' : place === 'header' && word === 'LIKE' ? 'like' : 'expression';
    if (this.#levels.length > LIMIT) throw this.#beyond('parentheses within each other');
    this.#levels.push({ place: inside, reads: this.#sink });
    this.names?.open(inside === 'start');
    if (place === 'table') level.place = 'from';
    // After the body's own parentheses comes the end of CREATE.
    if (place === 'start') level.place = this.#levels.length > 2 ? 'from' : 'rest';
  }

  #close(): void {
    if (this.#levels.length > 1) {
      for (const name of this.#levels.pop()?.defined ?? []) this.#scope.get(name)?.pop();
      this.names?.close(this.#ahead);
    }
    const level = this.#level;
    if (level.place !== 'named' || !level.defining) return;
    this.#define(level); // not before: in its own body the name is still a table's
    level.place = 'start';
  }

  #beginExpression(level: Level): void {
    level.defining = [foldCase(this.#ahead.name().name), { reads: [] }];
    level.place = 'named';
  }

  #declare(variable: string, level: Level): void {
    level.defining = [foldCase(variable), { reads: [] }];
    this.#define(level);
    level.place = 'value';
  }

  #define(level: Level): void {
    const [name, definition] = level.defining as [string, Definition];
    if (++this.#definitions > LIMIT) throw this.#beyond('common table expressions and variables');
    const scope = this.#scope.get(name);
    if (scope) scope.push(definition);
    else this.#scope.set(name, [definition]);
    (level.defined ??= []).push(name);
  }

  #use(variable: string, level: Level): void {
    const used = this.#defined(variable);
    if (used) this.#sink.push(used);
    if (level.place === 'value' && level.defining) level.defining[1].table ??= used?.table;
    if (level.place !== 'start' && level.place !== 'table') return;
    if (used?.table !== undefined) this.#read(used.table);
    level.place = 'from';
  }

  #table(level: Level): void {
    const table = this.#ahead.name();
    if (this.#ahead.peek()?.text !== '(') this.#read(table); // else it is a function
    level.place = 'from';
  }

  #base(level: Level): void {
    const base = this.#ahead.name();
    level.reads.push(base.name);
    this.names?.addBase(base);
    level.place = 'header';
  }

  #read(table: LocatedName): void {
    const definition = this.isView(table.name) ? undefined : this.#defined(table.name);
    this.#sink.push(definition ?? table.name);
    this.names?.addTable(table, definition === undefined, this.#ahead);
  }

  #defined(name: string): Definition | undefined {
    return this.#scope.get(foldCase(name))?.at(-1);
  }

  #beyond = (what: string): LimitError =>
    new LimitError(`${this.title}: more than ${LIMIT} ${what}: what it reads from can not be told`);
}

/** The names among what is read, and those that definitions among it read, in order; a definition may use itself. */
function namesOf(reads: Reads): Set<string> {
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
