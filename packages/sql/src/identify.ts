/*! What kind of statement a text is, and the name of the object it makes (forms: the service's dump, SHOW CREATE and the access control documentation). */
import { nameAt } from './name.js';
import { meaningful, type Token, wordOf } from './tokens.js';

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
  /** What is made, or for `membership`, `assumption` and `grant` who receives it; empty where it can't be told. */
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

const TITLES: Partial<Record<Kind, string>> = {
  matview: 'materialized view',
  liveview: 'live view',
  'service-account': 'service account',
  membership: 'membership of',
  assumption: 'assumption by',
  grant: 'grant to',
};

/** A statement's object in words: `materialized view 'daily'`; its verb where it has none. */
export const title = ({ kind, name, verb }: Identity): string =>
  kind === 'other' ? verb : `${TITLES[kind] ?? kind} '${name}'`;

const PRINTED = /^CREATE ([A-Z ]+) '([^']+)' /;

/** The kind, name and verb of one statement. Never fails: what it does not know is `other`. */
export function identify(statement: string): Identity {
  // The form that the service prints, and so most statements have: no need to read those word by word.
  const [, phrase, name] = PRINTED.exec(statement) ?? [];
  const kind = CREATED.find(([words]) => words === phrase)?.[1];
  return kind && name !== undefined ? { kind, name, verb: 'CREATE' } : identifyByWords(statement);
}

/** Whether a statement is `ALTER USER | SERVICE ACCOUNT … CREATE TOKEN …`, which a server answers with the token. */
export function createsToken(statement: string): boolean {
  if (!/\btoken\b/i.test(statement)) return false;
  const words = new Cursor(meaningful(statement));
  if (!words.accept('ALTER USER') && !words.accept('ALTER SERVICE ACCOUNT')) return false;
  words.name();
  words.skipTo('CREATE');
  return words.accept('CREATE TOKEN');
}

function identifyByWords(statement: string): Identity {
  const words = new Cursor(meaningful(statement));
  const verb = wordOf(words.peek());
  if (words.accept('CREATE')) {
    words.accept('OR REPLACE');
    if (words.accept('ATOMIC') || words.accept('BATCH')) words.skipTo('TABLE');
    for (const [phrase, kind] of CREATED) {
      if (!words.accept(phrase)) continue;
      words.accept('IF NOT EXISTS');
      return { kind, name: words.name(), verb };
    }
  } else if (words.accept('ADD USER')) {
    return { kind: 'membership', name: words.name(), verb };
  } else if (words.accept('GRANT ASSUME') || words.accept('ASSUME')) {
    words.skipTo('TO');
    words.accept('TO');
    return { kind: 'assumption', name: words.name(), verb };
  } else if (words.accept('GRANT')) {
    words.skipTo('TO');
    words.accept('TO');
    return { kind: 'grant', name: words.name(), verb };
  }
  return { kind: 'other', name: '', verb };
}

/** Looks at a statement's words one after the other; reads no further than it must, as bodies are long. */
class Cursor {
  #ahead: Token[] = [];
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
    if (!words.every((word, i) => wordOf(this.peek(i)) === word)) return false;
    this.#ahead.splice(0, words.length);
    return true;
  }

  /** Steps on until the word comes next. */
  skipTo(word: string): void {
    while (this.peek() && wordOf(this.peek()) !== word) this.#ahead.shift();
  }

  name(): string {
    return nameAt(distance => this.peek(distance)).name;
  }
}
