/*! Classifies a statement by its first words, and parses CREATE, SHOW and EXPLAIN. Queries and commands are parsed later. */
import {
  AFTER_CREATE,
  type CreateContext,
  type CreateStatement,
  Cursor,
  expectOnlySemicolons,
  isWord,
  parseAfterCreate,
  RejectionError,
  readMainVerb,
  rejectReserved,
  unexpectedTokenError,
  wordsWith,
} from '@sqlpipe/ddl/parser';
import { parseShow, type ShowStatement } from './parse-show.js';

export type ParsedStatement =
  | CreateStatement
  | ShowStatement
  /** Parsed against the catalogue when it is executed. `verb` is its first word in lower case, and `cursor` is after it. */
  | { readonly type: 'command'; readonly verb: string; readonly cursor: Cursor }
  | { readonly type: 'explain show create database' }
  | { readonly type: 'query'; readonly text: string };

/** @param commands the first words of commands */
export function parseStatement(
  text: string,
  commands: ReadonlyMap<string, unknown>,
  context: CreateContext,
): ParsedStatement | undefined {
  const cursor = new Cursor(text);
  const verb = readMainVerb(cursor);
  if (verb === undefined) return;
  if (verb === 'create') {
    const token = cursor.require(AFTER_CREATE);
    const isOfPrincipal = context.hasFeature('principals') && /^(?:user|group|service)$/i.test(token);
    if (!isOfPrincipal) return parseAfterCreate(cursor, token, context);
    cursor.unread();
  }
  if (verb === 'show' || verb === 'explain') {
    if (verb === 'explain') cursor.expect('show');
    const statement = parseShow(cursor, context);
    expectOnlySemicolons(cursor);
    if (verb === 'show') return statement;
    if (statement.type === 'show create database') return { type: 'explain show create database' };
    // Other query plans may depend on rows.
    throw new RejectionError(0, 'this server keeps no rows, so only SHOW CREATE DATABASE can be explained');
  }
  if (commands.has(verb)) {
    // The parser of ALTER checks the text after a semicolon: in QuestDB, not every ALTER rejects such text.
    if (verb !== 'alter') rejectSecondStatement(text);
    return { type: 'command', verb, cursor };
  }
  if (!['select', 'with', 'declare', '('].includes(verb)) requireImplicitSelect(cursor);
  return { type: 'query', text };
}

/** Rejects any token after the first semicolon that is not a semicolon too. */
function rejectSecondStatement(text: string): void {
  const cursor = new Cursor(text);
  for (let token = cursor.next(); token !== undefined && token !== ';'; ) token = cursor.next();
  expectOnlySemicolons(cursor);
}

/** What may follow a table or its alias, and is no alias itself. */
const AFTER_ALIAS = new Set([...wordsWith('ends alias'), ...').;,(']);

/** `trades t` is a query without SELECT: QuestDB reads an unknown first word as a table or a function. @throws RejectionError */
function requireImplicitSelect(cursor: Cursor): void {
  rejectReserved(cursor.text.slice(cursor.start, cursor.end), cursor.start);
  const endsAlias = (token: string | undefined) => token === undefined || AFTER_ALIAS.has(token.toLowerCase());
  let token = cursor.next();
  if (endsAlias(token)) return;
  if (isWord(token, 'as')) token = cursor.require('alias');
  rejectReserved(token ?? '', cursor.start);
  token = cursor.next();
  if (token !== undefined && !endsAlias(token)) throw unexpectedTokenError(cursor.start, token);
}
