import { type LocatedName, NameSet, unquote } from '@sqlpipe/sql';
import { type Cursor, isWord, RejectionError } from './cursor.js';
import { RESERVED } from './words.js';

/** The characters of valid names that end a bare name or open a quote (each character was tried on 9.3.4). */
const ENDS_NAME = /[ ;`&|^<=>[\]]/;

/** The form of a name that needs no quotes in any statement, unless it is a keyword. */
export const PLAIN_NAME = /^[\p{L}_][\p{L}\d_]*$/u;

/** Whether a name has to be quoted; false if it already has quotes. */
export const needsQuotes = (name: string): boolean =>
  !name.startsWith('"') && (ENDS_NAME.test(name) || RESERVED.has(name));

/** The name as it is written in a statement, quoted if necessary. No name contains a double quote. */
export const quoteName = (name: string): string => (needsQuotes(name) ? doubleQuote(name) : name);

/** The name in double quotes, which no name contains. */
export const doubleQuote = (name: string): string => `"${name}"`;

/** The words that start a clause where ALTER may have the name of a column. */
const COLUMN_CLAUSES = new NameSet(['column', 'if']);

export const quoteColumn = (name: string): string => (COLUMN_CLAUSES.has(name) ? doubleQuote(name) : quoteName(name));

const SYSTEM_TABLES = new NameSet(['telemetry', 'telemetry_config', '_query_trace']);

/** Whether a table is one of the server's own, by its default name. No dump contains it (TableFlagResolverImpl; query tracing). */
export const isSystemTable = (name: string): boolean => name.startsWith('sys.') || SYSTEM_TABLES.has(name);

/** QuestDB's `cairo.max.file.name.length`, in UTF-16 code units. */
export const MAX_NAME_LENGTH = 127;

/** The maximum length of a file name in bytes, minus what the server adds to the name of a table. */
export const MAX_FILE_NAME_BYTES = 250;

export const unquoteToken = (token: string): string => unquote(token, 'server');

export function rejectReserved(token: string, position: number): void {
  if (!RESERVED.has(token)) return;
  throw new RejectionError(
    position,
    `table and column names that are SQL keywords have to be enclosed in double quotes, such as "${token}"`,
  );
}

/** Rejects a column name that is not a literal, such as `'x'` or a symbol. */
export function rejectNonLiteral(token: string, position: number): void {
  if ("(),`';".includes(token.charAt(0))) throw new RejectionError(position, 'literal expected');
}

export function parseLiteral(cursor: Cursor): LocatedName {
  const token = cursor.require('literal');
  const start = cursor.start;
  rejectReserved(token, start);
  rejectNonLiteral(token, start);
  return { name: unquoteToken(token), start };
}

/** Reads the name of a user, a group or a service account. It must not contain quotes, because a dump puts names in quotes. */
export function parseEntityName(cursor: Cursor, expected: string): LocatedName {
  const name = unquoteToken(cursor.requireNoSemicolon(expected));
  const start = cursor.start;
  if (name === '' || /['"]/.test(name)) throw new RejectionError(start, `invalid ${expected} [name=${name}]`);
  return { name, start };
}

/** Skips the schema `public.` before a name. @returns the token of the name */
export function stripPublic(cursor: Cursor, token: string): string {
  if (unquoteToken(token).toLowerCase() !== 'public') return token;
  return cursor.accept('.') ? cursor.require('table name') : token;
}

/** Parses the name of an existing table. */
export function parseTableName(cursor: Cursor, expected: string): LocatedName {
  const token = stripPublic(cursor, cursor.require(expected));
  rejectReserved(token, cursor.start);
  return { name: unquoteToken(token), start: cursor.start };
}

export function parseObjectName(cursor: Cursor, token: string, { reserved: allowReserved = false } = {}): LocatedName {
  const bare = stripPublic(cursor, token);
  if (!allowReserved) rejectReserved(bare, cursor.start);
  const name = unquoteToken(bare);
  rejectDotsAndSlashes(name, cursor.start);
  return { name, start: cursor.start };
}

export function rejectDotsAndSlashes(name: string, position: number): void {
  if (name === '.') throw new RejectionError(position, "'.' is an invalid table name");
  const bad = name.search(/[/\\]|\.(?=\.)/);
  if (bad >= 0) throw new RejectionError(position + bad, `'${name.charAt(bad)}' is not allowed`);
}

export interface CreatedName extends LocatedName {
  readonly ifNotExists: boolean;
}

/** Parses `[IF NOT EXISTS] name`. @param expected `table name` or `view name`, for messages */
export function parseCreatedName(cursor: Cursor, expected: string): CreatedName {
  let token = cursor.require(`${expected} or 'if'`);
  const ifNotExists = isWord(token, 'if');
  if (ifNotExists) {
    if (!isWord(cursor.require("'not'"), 'not') || !isWord(cursor.require("'exists'"), 'exists'))
      throw cursor.error("'if not exists' expected");
    token = cursor.require(expected);
  }
  return { ...parseObjectName(cursor, token), ifNotExists };
}

const hasValidLength = ({ length }: string): boolean => length > 0 && length <= MAX_NAME_LENGTH;

/** Whether a table or view may have this name (read in TableUtils). */
export const isValidTableName = (name: string): boolean =>
  hasValidLength(name) && !/[?,'"\\/:)(+*%~\0-\x0f\x7f\ufeff]|^\.|\.$|\.\.|^ | $/.test(name);

/** Whether a column may have this name (read in TableUtils). */
export const isValidColumnName = (name: string): boolean =>
  hasValidLength(name) && !/[?.,'"\\/:)(+\-*%~\0-\x0f\x7f\ufeff]/.test(name);
