/*! Names: which words must be quoted, what quotes do, which characters tables and columns may not have. */
import { foldCase } from '@sqlpipe/sql';
import { RESERVED } from '../names.js';
import type { Cursor } from './cursor.js';
import { isWord } from './cursor.js';
import { RejectionError } from './rejection-error.js';

/** A name, and where it stands in the statement. */
export interface LocatedName {
  readonly name: string;
  readonly position: number;
}

/** QuestDB's `cairo.max.file.name.length`, in UTF-16 code units. */
const MAX_NAME_LENGTH = 127;

/** What a file name may have on disk in bytes, less what the server adds to a table's name. */
export const MAX_FILE_NAME_BYTES = 250;

const isQuoted = (token: string): boolean => token.length > 1 && /^(['"`]).*\1$/s.test(token);

export const unquote = (token: string): string => (isQuoted(token) ? token.slice(1, -1) : token);

/** Whether a name must be quoted for being a word of the language. */
export const isReserved = (name: string): boolean => RESERVED.has(foldCase(name));

export function rejectReserved(token: string, position: number): void {
  if (!isReserved(token)) return;
  throw new RejectionError(
    position,
    `table and column names that are SQL keywords have to be enclosed in double quotes, such as "${token}"`,
  );
}

/** A column name where only a literal may stand: `'x'` and symbols are none. */
export function requireLiteral(token: string, position: number): void {
  if ("(),`';".includes(token.charAt(0))) throw new RejectionError(position, 'literal expected');
}

/** The next token as a name of a column, a unit or the like. */
export function parseLiteral(cursor: Cursor): { name: string; position: number } {
  const token = cursor.require('literal');
  const position = cursor.at;
  rejectReserved(token, position);
  requireLiteral(token, position);
  return { name: unquote(token), position };
}

/** What may stand before a name: the schema `public.`, which is dropped. */
export function stripPublic(cursor: Cursor, token: string): string {
  if (unquote(token).toLowerCase() !== 'public') return token;
  const dot = cursor.next();
  if (dot === undefined) return token;
  if (dot !== '.') {
    cursor.unread();
    return token;
  }
  return cursor.require('table name');
}

/** A name for a table or view from a token, rejected as the server's parser rejects it. */
export function parseObjectName(
  cursor: Cursor,
  token: string,
  { reserved: allowReserved = false } = {},
): { name: string; position: number } {
  const bare = stripPublic(cursor, token);
  if (!allowReserved) rejectReserved(bare, cursor.at);
  const name = unquote(bare);
  rejectDotsAndSlashes(name, cursor.at);
  return { name, position: cursor.at };
}

export function rejectDotsAndSlashes(name: string, position: number): void {
  if (name === '.') throw new RejectionError(position, "'.' is an invalid table name");
  const bad = name.search(/[/\\]|\.(?=\.)/);
  if (bad >= 0) throw new RejectionError(position + bad, `'${name.charAt(bad)}' is not allowed`);
}

/** `IF NOT EXISTS` after CREATE: whether it is present, and the token after it. */
export function parseIfNotExists(
  cursor: Cursor,
  token: string,
  expected: string,
): { ifNotExists: boolean; token: string } {
  if (!isWord(token, 'if')) return { ifNotExists: false, token };
  if (isWord(cursor.require("'not'"), 'not') && isWord(cursor.require("'exists'"), 'exists')) {
    return { ifNotExists: true, token: cursor.require(expected) };
  }
  throw new RejectionError(cursor.at, "'if not exists' expected");
}

const INVALID_IN_TABLE = /[?,'"\\/:)(+*%~\0-\x0f\x7f\ufeff]|^\.|\.$|\.\.|^ | $/;
const INVALID_IN_COLUMN = /[?.,'"\\/:)(+\-*%~\0-\x0f\x7f\ufeff]/;

/** Whether a table or view may have this name (read in TableUtils). */
export const isValidTableName = (name: string): boolean =>
  name.length > 0 && name.length <= MAX_NAME_LENGTH && !INVALID_IN_TABLE.test(name);

/** Whether a column may have this name (read in TableUtils). */
export const isValidColumnName = (name: string): boolean =>
  name.length > 0 && name.length <= MAX_NAME_LENGTH && !INVALID_IN_COLUMN.test(name);
