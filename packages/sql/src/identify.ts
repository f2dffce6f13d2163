import { CodedError, formatExcerpt } from '@sqlpipe/text';
import { isNamedKind, isObjectKind, KINDS, type Kind, kindKeywords } from './kinds.js';
import type { NameSpan } from './name.js';
import { NEWEST_COMMENT_RULES, SERVER_COMMENT_RULES, type ServerCommentRules, serverTokens } from './server-lexer.js';
import { canHaveComments, joinTokens, significantTokens, type Token, TokenReader } from './tokens.js';

/** The kind and name of an object, or of a principal. For a right, the name is that of the principal who has it. */
export interface KindAndName {
  readonly kind: Kind;
  readonly name: string;
}

/** What a statement does, and to what. The name is empty if it is unknown. */
export interface StatementIdentity extends KindAndName {
  /** The first word in upper case: CREATE, ADD, GRANT, …; INSERT or UPDATE also after WITH. */
  readonly verb: string;
}

const CREATE_PHRASES = KINDS.filter(isNamedKind).map(kind => [kindKeywords(kind), kind] as const);

const RIGHT_TITLES: Partial<Record<Kind, string>> = {
  membership: 'membership of',
  assumption: 'assumption by',
  grant: 'grant to',
};

/** Describes the object of a statement, as in `materialized view 'daily'`; for the kind `other`, returns the verb. */
export const displayName = ({ kind, name, verb = '' }: KindAndName & Partial<StatementIdentity>): string =>
  kind === 'other' ? verb : `${RIGHT_TITLES[kind] ?? kind} '${name}'`;

/** What a statement says before the definition of its object. */
export interface StatementHead extends StatementIdentity {
  /** CREATE OR REPLACE. */
  replaces: boolean;
  /** IF NOT EXISTS: an existing object stays, even a different one. */
  keepsExisting: boolean;
  /** CREATE TABLE … AS, CREATE BATCH or CREATE ATOMIC: the result of a query becomes a table. */
  runsQuery: boolean;
  located?: NameSpan;
}

const PRINTED_FORM = /^CREATE ([A-Z ]+) '([^']+)' (?=(\(?))/;

/** Identifies one statement. Never fails: an unknown statement has the kind `other`. */
export function identify(statement: string): StatementIdentity {
  const { kind, name, verb } = readStatementHead(statement);
  return { kind, name, verb };
}

/** Reads the head of a statement by the rules of SQL. Programs show and select statements by it. */
export const readStatementHead = (statement: string): StatementHead =>
  readPrintedHead(statement) ?? readHead(significantTokens(statement));

/** Reads a head as servers print it, without a lexer, because most heads are printed. It has no comment, so all servers read it alike. */
function readPrintedHead(statement: string): StatementHead | undefined {
  const [, phrase, name, parenthesis] = PRINTED_FORM.exec(statement) ?? [];
  const kind = CREATE_PHRASES.find(([words]) => words === phrase)?.[1];
  if (!kind || name === undefined || (kind === 'table' && !parenthesis)) return undefined;
  const start = 'CREATE '.length + (phrase as string).length + 1;
  const located = { name, start, end: start + name.length + 2 };
  return { kind, name, verb: 'CREATE', replaces: false, keepsExisting: false, runsQuery: false, located };
}

function readHead(tokens: Iterable<Token>): StatementHead {
  const words = new TokenReader(tokens);
  const noOptions = { replaces: false, keepsExisting: false, runsQuery: false };
  const head = { kind: 'other' as Kind, name: '', verb: readVerb(words), ...noOptions }; // fields between two spreads took twice the time
  return { ...head, ...(words.accept('CREATE') ? readCreate(words) : readRight(words)) };
}

function readVerb(words: TokenReader): string {
  const first = words.word;
  if (first !== 'WITH') return first;
  while (words.peek() && !/^(?:SELECT|INSERT|UPDATE)$/.test(words.word)) {
    if (words.peek()?.text === '(') skipParentheses(words);
    else words.next();
  }
  return /^(?:INSERT|UPDATE)$/.test(words.word) ? words.word : first;
}

function readCreate(words: TokenReader): Partial<StatementHead> {
  const replaces = words.accept('OR REPLACE');
  const isBatch = words.accept('ATOMIC') || words.accept('BATCH');
  if (isBatch) words.skipTo('TABLE');
  for (const [phrase, kind] of CREATE_PHRASES) {
    if (!words.accept(phrase)) continue;
    const keepsExisting = words.accept('IF NOT EXISTS');
    const located = words.readName();
    const isFromQuery = kind === 'table' && words.peek()?.text !== '(';
    if (isFromQuery) words.skipTo('AS');
    const runsQuery = isBatch || (isFromQuery && words.peek() !== undefined);
    return { kind, name: located.name, located, replaces, keepsExisting, runsQuery };
  }
  return { replaces, runsQuery: isBatch };
}

/** Whether a server returns rows. ALTER USER or SERVICE ACCOUNT with CREATE TOKEN returns the token. COPY returns the id of its job. */
export function returnsRows(statement: string): boolean {
  if (!/\b(?:token|copy)\b/i.test(statement)) return false;
  const words = new TokenReader(significantTokens(statement));
  if (words.accept('COPY')) return true;
  if (!words.accept('ALTER USER') && !words.accept('ALTER SERVICE ACCOUNT')) return false;
  words.readName();
  words.skipTo('CREATE');
  return words.accept('CREATE TOKEN');
}

/** Without TO, the statement may be a query: `GRANT g JOIN …` can read a table named `grant` (observed on 9.3.4). */
function readRight(words: TokenReader): Partial<StatementHead> | undefined {
  if (words.accept('ADD USER')) {
    const { name } = words.readName();
    return words.accept('TO') ? { kind: 'membership', name } : undefined;
  }
  if (words.accept('GRANT ASSUME SERVICE ACCOUNT') || words.accept('ASSUME SERVICE ACCOUNT')) {
    words.readName();
    return words.accept('TO') ? { kind: 'assumption', name: words.readName().name } : undefined;
  }
  if (!words.accept('GRANT')) return undefined;
  // The permissions are words and commas up to ON or TO. With FROM or punctuation before these, the statement is a query.
  for (let { word } = words; word !== 'ON' && word !== 'TO'; { word } = words) {
    if (word === 'FROM' || (word === '' && words.peek()?.text !== ',')) return undefined;
    words.next();
  }
  if (words.accept('ON') && !words.accept('ALL TABLES'))
    do {
      if (!words.readName().name) return undefined;
      skipParentheses(words); // columns
    } while (words.acceptPunctuation(','));
  return words.accept('TO') ? { kind: 'grant', name: words.readName().name } : undefined;
}

function skipParentheses(words: TokenReader): void {
  let depth = 0;
  do {
    if (words.acceptPunctuation('(')) depth++;
    else if (words.acceptPunctuation(')')) depth--;
    else if (depth) words.next();
  } while (depth && words.peek());
}

/**
 * Explains how a server would read a statement differently from SQL; undefined if none would. Of an object, only the head has to be the
 * same; of any other statement, every token.
 * @param allRules those of the servers that may run the statement
 */
export function findAmbiguity(statement: string, allRules: readonly ServerCommentRules[] = SERVER_COMMENT_RULES) {
  const printedHead = readPrintedHead(statement);
  if (printedHead && isObjectKind(printedHead.kind)) return undefined;
  if (statement.length < 1000 && UNAMBIGUOUS.test(statement)) return undefined; // this is fast, and most grants pass it
  const head = printedHead ?? readHead(significantTokens(statement));
  const hasComments = canHaveComments(statement);
  for (const rules of allRules) {
    const other = readHead(serverTokens(statement, 0, rules));
    const compared = ['kind', 'name', 'verb', 'replaces', 'runsQuery'] as const;
    if (compared.some(property => head[property] !== other[property])) return formatAmbiguity(head, other, rules);
    if (!hasComments || isObjectKind(head.kind)) continue;
    if (joinTokens(significantTokens(statement)) !== joinTokens(serverTokens(statement, 0, rules)))
      return formatAmbiguity(head, other, rules);
  }
  return undefined;
}

/** Identifies a statement that SQL and the newest servers read alike. @throws CodedError if not; see `findAmbiguity` */
export function requireUnambiguous(statement: string): StatementIdentity {
  const identity = identify(statement);
  const reason = findAmbiguity(statement, [NEWEST_COMMENT_RULES]);
  if (reason) throw new CodedError('REJECTED', `${formatExcerpt(displayName(identity), 80)}: ${reason}`);
  return identity;
}

/** Matches text that has the same tokens by all rules: words, common punctuation, and quoted text that is not next to a word. */
const UNAMBIGUOUS = /^(?:[\w$@ \t\n\r(),;.]|(?<![\w$@'"])(?:'[^']*'|"[^"]*"))*$/;

function formatAmbiguity(head: StatementHead, other: StatementHead, rules: ServerCommentRules): string {
  const [ours, theirs] = [head, other].map(each => formatExcerpt(displayName(each) || 'no statement', 80));
  const what = ours === theirs ? 'reads it differently' : `reads ${theirs}`;
  const versions = rules === '9.0' ? 'before 9.3.2' : 'from 9.3.2 on';
  return `SQL reads ${ours}, but QuestDB ${versions} ${what}; remove quotes and dashes from its comments`;
}
