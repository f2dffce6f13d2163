/*! RESUME WAL, SUSPEND WAL and REBASE WAL. */
import { type Cursor, isWord } from '../grammar/cursor.js';
import { parseInt64 } from '../grammar/numbers.js';
import { RejectionError } from '../grammar/rejection-error.js';
import type { KnownObject, NameLookup } from './lookup.js';

/** Parses `WAL [FROM {TXN | TRANSACTION} n]` after RESUME. @returns whether there is a FROM */
export function parseResumeWal(cursor: Cursor, object: KnownObject): boolean {
  expectWal(cursor, object);
  const from = cursor.next();
  if (from === undefined || from === ';') return false;
  cursor.expectToken(from, 'from');
  const token = cursor.requireNoSemicolon("'transaction' or 'txn'");
  if (!isWord(token, 'transaction') && !isWord(token, 'txn'))
    throw new RejectionError(cursor.at, "'transaction' or 'txn' expected");
  const value = cursor.requireNoSemicolon('transaction value');
  if (parseInt64(value) === undefined) throw new RejectionError(cursor.at, `invalid value [value=${value}]`);
  return true;
}

/**
 * Parses WAL after REBASE. A server accepts it for a table that is suspended, and `INTO 'folder'` only from another server: both
 * messages are those of its documentation.
 */
export function parseRebaseWal(cursor: Cursor, object: KnownObject): void {
  expectWal(cursor, object);
  if (isWord(cursor.next(), 'into'))
    throw new RejectionError(cursor.at, 'REBASE WAL INTO is only supported on a read-only replica');
  cursor.unread();
  if (object.kind === 'table' && object.columns && !object.isSuspended)
    throw new RejectionError(0, 'REBASE WAL requires the table to be suspended first');
}

/** Parses WAL after SUSPEND, which only a server for developers accepts before QuestDB 10. */
export function parseSuspendWal(cursor: Cursor, { has }: NameLookup, object: KnownObject): void {
  expectWal(cursor, object);
  if (!has('suspend')) throw new RejectionError(0, 'Cannot suspend table, database is not in dev mode');
}

function expectWal(cursor: Cursor, { name, wal }: KnownObject): void {
  cursor.expectToken(cursor.requireNoSemicolon("'wal'"), 'wal');
  if (wal === false) throw new RejectionError(cursor.at, `${name} is not a WAL table.`);
}
