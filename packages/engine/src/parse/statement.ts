/*! Parses a statement of any kind: its first words select the parser for the rest. */
import {
  AFTER_CREATE,
  type CreateContext,
  type CreateStatement,
  Cursor,
  expectOnlySemicolons,
  isWord,
  parseCreate,
  RejectionError,
  rejectReserved,
  unexpectedTokenError,
} from '@sqlpipe/ddl/grammar';
import { parseShow, type Show } from './show.js';

export type Statement =
  | CreateStatement
  | Show
  /** A statement that is checked against the catalogue while it is parsed: the cursor stands after its first word. */
  | { readonly statement: 'change'; readonly verb: string; readonly cursor: Cursor }
  | { readonly statement: 'explain show create database' }
  | { readonly statement: 'query'; readonly text: string };

/** What an edition adds to the grammar. */
export interface Dialect extends CreateContext {
  /** Words that begin a statement which changes something. */
  readonly verbs: { has(word: string): boolean };
}

/** Parses one statement; undefined if the text contains none. */
export function parseStatement(text: string, dialect: Dialect): Statement | undefined {
  const cursor = new Cursor(text);
  const token = cursor.next();
  if (token === undefined) return;
  const verb = token.toLowerCase();
  if (verb === 'create') return parseCreateOrChange(cursor, dialect);
  if (verb === 'show') return expectEnd(cursor, parseShow(cursor, dialect));
  if (verb === 'explain') return parseExplain(cursor, dialect);
  if (dialect.verbs.has(verb)) {
    // QuestDB's ALTER checks the text after the semicolon itself, or not at all.
    if (verb !== 'alter') rejectMore(text);
    return { statement: 'change', verb, cursor };
  }
  if (!['select', 'with', 'declare', '('].includes(verb)) rejectUnknownStatement(cursor, token);
  return { statement: 'query', text };
}

const principals = new Set(['user', 'group', 'service']);

function parseCreateOrChange(cursor: Cursor, dialect: Dialect): Statement {
  const token = cursor.require(AFTER_CREATE);
  if (!dialect.isEnterprise || !principals.has(token.toLowerCase())) return parseCreate(cursor, token, dialect);
  cursor.unread();
  rejectMore(cursor.text);
  return { statement: 'change', verb: 'create', cursor };
}

/** After EXPLAIN: the only statement with a plan here is one whose plan is fixed. */
function parseExplain(cursor: Cursor, dialect: Dialect): Statement {
  cursor.expect('show');
  const shown = parseShow(cursor, dialect);
  if (expectEnd(cursor, shown).statement === 'show create database')
    return { statement: 'explain show create database' };
  throw new RejectionError(0, 'without rows, only SHOW CREATE DATABASE can be explained');
}

/** Rejects a text with anything but semicolons after its first semicolon, before any of it is executed. */
function rejectMore(text: string): void {
  const cursor = new Cursor(text);
  for (let token = cursor.next(); token !== undefined && token !== ';'; ) token = cursor.next();
  expectOnlySemicolons(cursor);
}

function expectEnd<T>(cursor: Cursor, statement: T): T {
  expectOnlySemicolons(cursor);
  return statement;
}

/** Words that cannot be an alias (from QuestDB's SqlParser). */
const aliasStops = new Set(
  (
    'where latest join inner left outer asof splice lt cross sample order on timestamp limit ) ; union group except ' +
    'intersect from pivot tolerance right full range window horizon , ( .'
  ).split(' '),
);

/**
 * QuestDB reads a statement that starts with an unknown word as a query without SELECT: the word is a table or a function, the next
 * one the alias. This explains its rejections of unknown statements.
 * @throws RejectionError for what cannot follow a table
 */
function rejectUnknownStatement(cursor: Cursor, first: string): void {
  rejectReserved(first, cursor.at);
  const stops = (token: string | undefined) => token === undefined || aliasStops.has(token.toLowerCase());
  let token = cursor.next();
  if (stops(token)) return;
  if (isWord(token, 'as')) token = cursor.require('alias');
  rejectReserved(token ?? '', cursor.at);
  token = cursor.next();
  if (token !== undefined && !stops(token)) throw unexpectedTokenError(cursor.at, token);
}
