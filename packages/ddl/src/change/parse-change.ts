/*! Parses statements that change existing objects. The first word decides which parser reads the rest. */
import type { Alter } from '../alteration.js';
import { DEFAULTS, type Defaults } from '../definition.js';
import { Cursor, isWord } from '../grammar/cursor.js';
import { acceptAll, type NameLookup } from '../grammar/lookup.js';
import { RejectionError, unexpectedTokenError, unlessRejected } from '../grammar/rejection-error.js';
import type { ChangeStatement } from './change.js';
import { parseAlterTable } from './parse-alter-table.js';
import { parseAlterLiveView, parseAlterMaterializedView, parseAlterView } from './parse-alter-view.js';
import { parseDrop, parseRename } from './parse-drop.js';
import {
  parseCompile,
  parseInsert,
  parseRefreshStatement,
  parseTruncate,
  parseUpdate,
  parseVacuum,
} from './parse-maintenance.js';

/**
 * Parses a statement that changes an existing object, whichever objects there are.
 * @returns undefined for another statement, or an unknown syntax
 */
export function parseChange(statement: string, defaults: Defaults = DEFAULTS): ChangeStatement | undefined {
  const cursor = new Cursor(statement);
  return unlessRejected(() => parseChangeAfter(cursor, cursor.require('statement'), acceptAll(defaults)));
}

/** Parses an ALTER; empty for any other statement, or an unknown syntax. */
export function parseAlters(statement: string): readonly Alter[] {
  const change = parseChange(statement);
  return change?.verb === 'alter' ? change.alters : [];
}

/**
 * Parses the rest of a statement after its first word, and checks it against the objects that the server has.
 * @throws RejectionError with the server's message and position
 */
export function parseChangeAfter(cursor: Cursor, verb: string, lookup: NameLookup): ChangeStatement {
  const parse = PARSERS.get(verb.toLowerCase());
  if (!parse) throw unexpectedTokenError(cursor.at, verb);
  return parse(cursor, lookup);
}

const PARSERS: ReadonlyMap<string, (cursor: Cursor, lookup: NameLookup) => ChangeStatement> = new Map([
  ['alter', parseAlter],
  ['compile', parseCompile],
  ['drop', parseDrop],
  ['insert', parseInsert],
  ['refresh', parseRefreshStatement],
  ['rename', parseRename],
  ['truncate', parseTruncate],
  ['update', parseUpdate],
  ['vacuum', parseVacuum],
]);

function parseAlter(cursor: Cursor, lookup: NameLookup): ChangeStatement {
  const change = parseAlterOf(cursor.next(), cursor, lookup);
  cursor.expectEnd();
  return change;
}

function parseAlterOf(token: string | undefined, cursor: Cursor, lookup: NameLookup): ChangeStatement {
  if (isWord(token, 'table')) return parseAlterTable(cursor, lookup);
  if (isWord(token, 'view')) return parseAlterView(cursor, lookup);
  if (isWord(token, 'materialized')) return parseAlterMaterializedView(cursor, lookup);
  if (lookup.has('live views') && isWord(token, 'live')) return parseAlterLiveView(cursor, lookup);
  throw new RejectionError(
    token === undefined ? cursor.readOffset : cursor.at,
    "'table' or 'materialized' or 'view' expected",
  );
}
