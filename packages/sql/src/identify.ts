/*! What kind of statement a text is, and the name of the object it makes (forms: the service's dump, SHOW CREATE and the access control documentation). */
import { type LocatedName, parseName } from './name.js';
import { keywordOf, significantTokens, type Token } from './tokens.js';

/** The kinds a schema dump holds; `other` is everything else (ALTER, INSERT, …). */
export const KINDS = [
  'table',
  'view',
  'matview',
  'liveview',
  'user',
  'group',
  'service-account',
  'membership',
  'assumption',
  'grant',
  'other',
] as const;

/** One of `KINDS`. */
export type Kind = (typeof KINDS)[number];

/** What a statement does, and to what. */
export interface Identity {
  kind: Kind;
  /** What is made, or for `membership`, `assumption` and `grant` who receives it; empty where it is unknown. */
  name: string;
  /** The first word in upper case: CREATE, ADD, GRANT, … */
  verb: string;
}

const CREATED: [words: string, kind: Kind][] = [
  ['TABLE', 'table'],
  ['VIEW', 'view'],
  ['MATERIALIZED VIEW', 'matview'],
  ['LIVE VIEW', 'liveview'],
  ['USER', 'user'],
  ['GROUP', 'group'],
  ['SERVICE ACCOUNT', 'service-account'],
];

const KEYWORDS: ReadonlyMap<Kind, string> = new Map(CREATED.map(([keywords, kind]) => [kind, keywords]));

/** What statements call an object or a principal of a kind: `MATERIALIZED VIEW`; empty for all others. */
export const kindKeywords = (kind: Kind): string => KEYWORDS.get(kind) ?? '';

const TITLES: Partial<Record<Kind, string>> = {
  matview: 'materialized view',
  liveview: 'live view',
  'service-account': 'service account',
  membership: 'membership of',
  assumption: 'assumption by',
  grant: 'grant to',
};

/** A statement's object in words: `materialized view 'daily'`; its verb where it has none. */
export const displayName = ({ kind, name, verb }: Identity): string =>
  kind === 'other' ? verb : `${TITLES[kind] ?? kind} '${name}'`;

/** What a statement does beyond its identity, as far as it is stated before the object's own text. */
export interface Head extends Identity {
  /** Whether it replaces an existing object: CREATE OR REPLACE. */
  replaces: boolean;
  /** Whether it ignores an existing object, even a different one: IF NOT EXISTS. */
  keepsExisting: boolean;
  /** Whether it makes a table from a query, and so runs that: CREATE TABLE … AS, CREATE BATCH, CREATE ATOMIC. */
  runsQuery: boolean;
  /** Where the name of what it makes stands. */
  located?: LocatedName;
}

const PRINTED_FORM = /^CREATE ([A-Z ]+) '([^']+)' (?=(\(?))/;

/** The kind, name and verb of one statement. Never fails: what it does not know is `other`. */
export function identify(statement: string): Identity {
  const { kind, name, verb } = readPrintedHead(statement) ?? readHead(significantTokens(statement));
  return { kind, name, verb };
}

/**
 * The head of a statement in the form that a server prints, as most have: no need to read those word by word. However
 * comments are read, it is the same, as none can begin before its end.
 */
export function readPrintedHead(statement: string): Head | undefined {
  const [, phrase, name, parenthesis] = PRINTED_FORM.exec(statement) ?? [];
  const kind = CREATED.find(([words]) => words === phrase)?.[1];
  if (!kind || name === undefined || (kind === 'table' && !parenthesis)) return undefined;
  const start = 'CREATE '.length + (phrase as string).length + 1;
  const located = { name, start, end: start + name.length + 2 };
  return { kind, name, verb: 'CREATE', replaces: false, keepsExisting: false, runsQuery: false, located };
}

/** The head of the statement that these tokens make; reads no further than it must. */
export function readHead(tokens: Iterator<Token>): Head {
  const words = new Cursor(tokens);
  const no = { replaces: false, keepsExisting: false, runsQuery: false };
  const head = { kind: 'other' as Kind, name: '', verb: keywordOf(words.peek()), ...no };
  if (words.accept('CREATE')) return { ...head, ...readCreate(words) };
  return { ...head, ...readAccess(words) };
}

function readCreate(words: Cursor): Partial<Head> {
  const replaces = words.accept('OR REPLACE');
  const isBatch = words.accept('ATOMIC') || words.accept('BATCH');
  if (isBatch) words.skipTo('TABLE');
  for (const [phrase, kind] of CREATED) {
    if (!words.accept(phrase)) continue;
    const keepsExisting = words.accept('IF NOT EXISTS');
    const located = words.name();
    const runsQuery = isBatch || (kind === 'table' && isMadeByQuery(words));
    return { kind, name: located.name, located, replaces, keepsExisting, runsQuery };
  }
  return { replaces, runsQuery: isBatch };
}

/** Whether a statement is `ALTER USER | SERVICE ACCOUNT … CREATE TOKEN …`, which a server answers with the token. */
export function createsToken(statement: string): boolean {
  if (!/\btoken\b/i.test(statement)) return false;
  const words = new Cursor(significantTokens(statement));
  if (!words.accept('ALTER USER') && !words.accept('ALTER SERVICE ACCOUNT')) return false;
  words.name();
  words.skipTo('CREATE');
  return words.accept('CREATE TOKEN');
}

/** After a table's name: columns in parentheses, or AS and a query. */
function isMadeByQuery(words: Cursor): boolean {
  if (words.peek()?.text === '(') return false;
  words.skipTo('AS');
  return words.peek() !== undefined;
}

/**
 * The statements that give rights, by their whole form: to a server without access control `ASSUME` and `GRANT` are names,
 * and `ASSUME WHERE …` or `GRANT g JOIN …` is a query (observed on 9.3.4).
 */
function readAccess(words: Cursor): Partial<Head> | undefined {
  if (words.accept('ADD USER')) {
    const { name } = words.name();
    return words.accept('TO') ? { kind: 'membership', name } : undefined;
  }
  if (words.accept('GRANT ASSUME SERVICE ACCOUNT') || words.accept('ASSUME SERVICE ACCOUNT')) {
    words.name();
    return words.accept('TO') ? { kind: 'assumption', name: words.name().name } : undefined;
  }
  if (!words.accept('GRANT') || !words.skipPermissions()) return undefined;
  if (words.accept('ON') && !words.skipObjects()) return undefined;
  return words.accept('TO') ? { kind: 'grant', name: words.name().name } : undefined;
}

/** Looks at a statement's words one after the other; reads no further than it must, as bodies are long. */
class Cursor {
  readonly #ahead: Token[] = [];
  constructor(private readonly source: Iterator<Token>) {}

  peek(distance = 0): Token | undefined {
    while (this.#ahead.length <= distance) {
      const { done, value } = this.source.next();
      if (done) return undefined;
      this.#ahead.push(value);
    }
    return this.#ahead[distance];
  }

  /** Steps over the phrase if it comes next, in any case. */
  accept(phrase: string): boolean {
    const words = phrase.split(' ');
    if (!words.every((word, i) => keywordOf(this.peek(i)) === word)) return false;
    this.#ahead.splice(0, words.length);
    return true;
  }

  /** Steps on until the word comes next. */
  skipTo(word: string): void {
    while (this.peek() && keywordOf(this.peek()) !== word) this.#ahead.shift();
  }

  /** Steps over a name, which may be of several tokens. */
  name(): LocatedName {
    const located = parseName(distance => this.peek(distance));
    this.#ahead.splice(0, located.tokens);
    return located;
  }

  /** Steps over words and commas up to ON or TO; whether that is what comes. A query would need FROM or punctuation. */
  skipPermissions(): boolean {
    for (let word = keywordOf(this.peek()); word !== 'ON' && word !== 'TO'; word = keywordOf(this.peek())) {
      if (word === 'FROM' || (word === '' && this.peek()?.text !== ',')) return false;
      this.#ahead.shift();
    }
    return true;
  }

  /** Steps over names, each with a list of columns or without, or ALL TABLES; whether that is what comes. */
  skipObjects(): boolean {
    if (this.accept('ALL TABLES')) return true;
    do {
      if (!this.name().name) return false;
      this.#skipParentheses();
    } while (this.#acceptPunctuation(','));
    return true;
  }

  #skipParentheses(): void {
    let depth = 0;
    do {
      if (this.#acceptPunctuation('(')) depth++;
      else if (this.#acceptPunctuation(')')) depth--;
      else if (depth) this.#ahead.shift();
    } while (depth && this.peek());
  }

  #acceptPunctuation(sign: string): boolean {
    const isNext = this.peek()?.text === sign;
    if (isNext) this.#ahead.shift();
    return isNext;
  }
}
