/*! Parses and checks names: which words must be quoted, and which characters are invalid in names of tables and columns. */
import { foldCase, type LocatedName, unquote } from '@sqlpipe/sql';
import { RESERVED } from '../reserved-names.js';
import { type Cursor, isWord } from './cursor.js';
import { RejectionError } from './rejection-error.js';

/** QuestDB's `cairo.max.file.name.length`, in UTF-16 code units. */
const MAX_NAME_LENGTH = 127;

/** The maximum length of a file name in bytes, minus what the server adds to the name of a table. */
export const MAX_FILE_NAME_BYTES = 250;

/** A token without its quotes, as the server reads it. */
export const unquoteToken = (token: string): string => unquote(token, 'server');

/** Whether a name is a reserved word and therefore must be quoted. */
export const isReserved = (name: string): boolean => RESERVED.has(foldCase(name));

export function rejectReserved(token: string, position: number): void {
  if (!isReserved(token)) return;
  throw new RejectionError(
    position,
    `table and column names that are SQL keywords have to be enclosed in double quotes, such as "${token}"`,
  );
}

/** Rejects a column name that is not a literal, such as `'x'` or a symbol. */
export function requireLiteral(token: string, position: number): void {
  if ("(),`';".includes(token.charAt(0))) throw new RejectionError(position, 'literal expected');
}

/** Reads the next token as the name of a column, a unit or similar. */
export function parseLiteral(cursor: Cursor): LocatedName {
  const token = cursor.require('literal');
  const position = cursor.at;
  rejectReserved(token, position);
  requireLiteral(token, position);
  return { name: unquoteToken(token), position };
}

/**
 * Reads the next token as the name of a user, a group or a service account. It must not contain quotes, because a dump
 * puts names in quotes.
 */
export function parseEntityName(cursor: Cursor, expected: string): LocatedName {
  const name = unquoteToken(cursor.requireNoSemicolon(expected));
  const position = cursor.at;
  if (name === '' || /['"]/.test(name)) throw new RejectionError(position, `invalid ${expected} [name=${name}]`);
  return { name, position };
}

/** Drops the schema `public.` before a name. Returns the token of the name. */
export function stripPublic(cursor: Cursor, token: string): string {
  if (unquoteToken(token).toLowerCase() !== 'public') return token;
  return cursor.accept('.') ? cursor.require('table name') : token;
}

/** Parses the name of a table or view, with the checks of the server's parser. */
export function parseObjectName(cursor: Cursor, token: string, { reserved: allowReserved = false } = {}): LocatedName {
  const bare = stripPublic(cursor, token);
  if (!allowReserved) rejectReserved(bare, cursor.at);
  const name = unquoteToken(bare);
  rejectDotsAndSlashes(name, cursor.at);
  return { name, position: cursor.at };
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

const INVALID_IN_TABLE = /[?,'"\\/:)(+*%~\0-\x0f\x7f\ufeff]|^\.|\.$|\.\.|^ | $/;
const INVALID_IN_COLUMN = /[?.,'"\\/:)(+\-*%~\0-\x0f\x7f\ufeff]/;

/** Whether a table or view may have this name (read in TableUtils). */
export const isValidTableName = (name: string): boolean =>
  name.length > 0 && name.length <= MAX_NAME_LENGTH && !INVALID_IN_TABLE.test(name);

/** Whether a column may have this name (read in TableUtils). */
export const isValidColumnName = (name: string): boolean =>
  name.length > 0 && name.length <= MAX_NAME_LENGTH && !INVALID_IN_COLUMN.test(name);
