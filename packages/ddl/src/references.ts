/*!
 * What a view, or a table made by a query, reads from, found from its tokens alone: names where a table may stand. There is no grammar, so that
 * syntax to come does no harm. Each rule beyond plain SQL was observed on QuestDB 9.3.4.
 */
import { foldCase, identify, isObject, meaningful, nameAt, serverTokens, type Token, wordOf } from '@sqlpipe/sql';

/**
 * The names that the query of a view, materialized view or live view reads from, and the base that it names; of a table
 * those that it is made from or like.
 *
 * They come as written, without quotes and without the schema `public`, in the order of their first use. A common table
 * expression or a variable that is not used reads nothing. Other statements have no references.
 *
 * @param isView whether a name is that of a view: a view comes before a common table expression of that name, a table after it
 */
export function references(statement: string, isView: (name: string) => boolean = () => false): string[] {
  const { kind } = identify(statement);
  if (!isObject(kind) || (kind === 'table' && !COPIES.test(statement))) return [];
  // Quotes in a block comment make two readings; the wrong one swallows the end of the body.
  const reads = new Walk(isView).over(meaningful(statement)) ?? new Walk(isView).over(serverTokens(statement, '9.3.2'));
  return [...(reads ?? [])];
}

/** What a table has to hold to be made from another; few do, and tokens take their time. */
const COPIES = /\b(?:AS|LIKE)\b/i;

/** Where the walk stands on one level of parentheses. */
type Place =
  | 'header' // of CREATE, up to AS
  | 'header-with'
  | 'base' // behind WITH BASE
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
  like: { LIKE: 'table' },
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

/** A common table expression or a variable: what it reads is read where it is used. */
interface Definition {
  reads: Set<string>;
  /** What a variable's value begins with: a table where the variable is used as one, else a column. */
  table?: string | undefined;
}

/** A query or an expression in parentheses. */
interface Level {
  place: Place;
  reads: Set<string>;
  /** By folded name. What the levels around this one define can be used too. */
  definitions: Map<string, Definition>;
  /** The folded name and the definition that we are in. */
  defining?: [name: string, definition: Definition];
}

/** One way through the tokens of a statement. It has a stack of its own: parentheses may be deeper than the call stack. */
class Walk {
  readonly #levels: Level[] = [];
  #tokens: Token[] = [];
  #at = 0;

  constructor(private readonly isView: (name: string) => boolean) {}

  /** What is read, or undefined where a parenthesis is left open. */
  over(tokens: Iterable<Token>): Set<string> | undefined {
    const reads = new Set<string>();
    this.#tokens = [...tokens];
    this.#levels.push({ place: 'header', reads, definitions: new Map() });
    for (let token = this.#tokens[0]; token; token = this.#tokens[++this.#at]) this.#take(token);
    return this.#levels.length === 1 ? reads : undefined;
  }

  get #level(): Level {
    return this.#levels.at(-1) as Level;
  }

  /** Where references go: to the variable whose value we are in, or to the query. */
  get #sink(): Set<string> {
    const { place, defining, reads } = this.#level;
    return defining && (place === 'value' || place === 'named') ? defining[1].reads : reads;
  }

  #take(token: Token): void {
    const level = this.#level;
    if (token.text === '(') this.#open(level);
    else if (token.text === ')') this.#close();
    else if (token.text === ',') level.place = COMMA[level.place] ?? level.place;
    else if (token.type !== 'sign') this.#takeWord(token, level);
  }

  #takeWord(token: Token, level: Level): void {
    const { place } = level;
    const next = WORDS[place][wordOf(token)];
    if (next) level.place = next;
    else if (place === 'declare') this.#declare(token.text, level);
    else if (token.text.startsWith('@')) this.#use(token.text, level);
    else if (place === 'with') this.#beginExpression(level);
    else if (place === 'value' && level.defining) level.defining[1].table ??= this.#name();
    else if (place === 'start' || place === 'table') this.#table(level);
    else if (place === 'base') this.#base(level);
  }

  #open(level: Level): void {
    const { place } = level;
    const isQuery = place === 'start' || place === 'table' || place === 'named' || this.#next in QUERY;
    const inside = isQuery ? 'start' : place === 'header' && this.#next === 'LIKE' ? 'like' : 'expression';
    this.#levels.push({ place: inside, reads: this.#sink, definitions: new Map() });
    if (place === 'table') level.place = 'from';
    // After the body's own parentheses comes the end of CREATE.
    if (place === 'start') level.place = this.#levels.length > 2 ? 'from' : 'rest';
  }

  #close(): void {
    if (this.#levels.length > 1) this.#levels.pop();
    const level = this.#level;
    if (level.place !== 'named' || !level.defining) return;
    level.definitions.set(...level.defining); // not before: in its own body the name is still a table's
    level.place = 'start';
  }

  #beginExpression(level: Level): void {
    level.defining = [foldCase(this.#name()), { reads: new Set() }];
    level.place = 'named';
  }

  #declare(variable: string, level: Level): void {
    level.defining = [foldCase(variable), { reads: new Set() }];
    level.definitions.set(...level.defining);
    level.place = 'value';
  }

  #use(variable: string, level: Level): void {
    const used = this.#defined(variable);
    for (const name of used?.reads ?? []) this.#sink.add(name);
    if (level.place === 'value' && level.defining) level.defining[1].table ??= used?.table;
    if (level.place !== 'start' && level.place !== 'table') return;
    if (used?.table !== undefined) this.#read(used.table);
    level.place = 'from';
  }

  #table(level: Level): void {
    const name = this.#name();
    if (this.#tokens[this.#at + 1]?.text !== '(') this.#read(name); // else it is a function
    level.place = 'from';
  }

  #base(level: Level): void {
    level.reads.add(this.#name());
    level.place = 'header';
  }

  #read(name: string): void {
    const expression = this.isView(name) ? undefined : this.#defined(name);
    for (const read of expression?.reads ?? [name]) this.#sink.add(read);
  }

  #defined(name: string): Definition | undefined {
    const folded = foldCase(name);
    return this.#levels.findLast(({ definitions }) => definitions.has(folded))?.definitions.get(folded);
  }

  /** The next word in upper case. */
  get #next(): string {
    return wordOf(this.#tokens[this.#at + 1]);
  }

  /** Takes the name that begins here, which may be of several tokens. */
  #name(): string {
    const { name, tokens } = nameAt(distance => this.#tokens[this.#at + distance]);
    this.#at += tokens - 1;
    return name;
  }
}
