/*! Names: which words must be quoted, what quotes do, which characters tables and columns may not have. */
import { foldCase } from '@sqlpipe/sql';
import { RESERVED } from '../names.js';
import type { Cursor } from './cursor.js';
import { is } from './cursor.js';
import { Rejection } from './rejection.js';

/** A name, and where it stands in the statement. */
export interface LocatedName {
  readonly name: string;
  readonly position: number;
}

/** QuestDB's `cairo.max.file.name.length`, in UTF-16 code units. */
const maxNameLength = 127;

/** What a file name may have on disk in bytes, less what the service adds to a table's name. */
export const maxFileNameLength = 250;

const isQuoted = (token: string): boolean => token.length > 1 && /^(['"`]).*\1$/s.test(token);

export const unquote = (token: string): string => (isQuoted(token) ? token.slice(1, -1) : token);

/** Whether a name must be quoted for being a word of the language. */
export const isReserved = (name: string): boolean => RESERVED.has(foldCase(name));

export function rejectReserved(token: string, position: number): void {
  if (!isReserved(token)) return;
  throw new Rejection(
    position,
    `table and column names that are SQL keywords have to be enclosed in double quotes, such as "${token}"`,
  );
}

/** A column name where only a literal may stand: `'x'` and symbols are none. */
export function rejectNoLiteral(token: string, position: number): void {
  if ("(),`';".includes(token.charAt(0))) throw new Rejection(position, 'literal expected');
}

/** The next token as a name of a column, a unit or the like. */
export function literal(cursor: Cursor): { name: string; position: number } {
  const token = cursor.require('literal');
  const position = cursor.at;
  rejectReserved(token, position);
  rejectNoLiteral(token, position);
  return { name: unquote(token), position };
}

/** What may stand before a name: the schema `public.`, which is dropped. */
export function stripPublic(cursor: Cursor, token: string): string {
  if (unquote(token).toLowerCase() !== 'public') return token;
  const dot = cursor.next();
  if (dot === undefined) return token;
  if (dot !== '.') {
    cursor.back();
    return token;
  }
  return cursor.require('table name');
}

/** A name for a table or view from a token, refused as the service's parser refuses it. */
export function objectName(
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
  if (name === '.') throw new Rejection(position, "'.' is an invalid table name");
  const bad = name.search(/[/\\]|\.(?=\.)/);
  if (bad >= 0) throw new Rejection(position + bad, `'${name.charAt(bad)}' is not allowed`);
}

/** `IF NOT EXISTS` behind CREATE: whether it is there, and the token after it. */
export function ifNotExists(cursor: Cursor, token: string, expected: string): { ifNotExists: boolean; token: string } {
  if (!is(token, 'if')) return { ifNotExists: false, token };
  if (is(cursor.require("'not'"), 'not') && is(cursor.require("'exists'"), 'exists')) {
    return { ifNotExists: true, token: cursor.require(expected) };
  }
  throw new Rejection(cursor.at, "'if not exists' expected");
}

const badInTable = /[?,'"\\/:)(+*%~\0-\x0f\x7f\ufeff]|^\.|\.$|\.\.|^ | $/;
const badInColumn = /[?.,'"\\/:)(+\-*%~\0-\x0f\x7f\ufeff]/;

/** Whether a table or view may have this name (read in TableUtils). */
export const isValidTableName = (name: string): boolean =>
  name.length > 0 && name.length <= maxNameLength && !badInTable.test(name);

/** Whether a column may have this name (read in TableUtils). */
export const isValidColumnName = (name: string): boolean =>
  name.length > 0 && name.length <= maxNameLength && !badInColumn.test(name);
