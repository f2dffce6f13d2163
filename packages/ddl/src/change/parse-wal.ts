/*! Parses RESUME WAL, SUSPEND WAL and REBASE WAL. */
import type { Cursor } from '../grammar/cursor.js';
import type { FoundObject, NameLookup } from '../grammar/lookup.js';
import { parseInt64 } from '../grammar/numbers.js';
import { RejectionError } from '../grammar/rejection-error.js';
import type { ChangeStatement } from './change.js';

/**
 * Parses WAL after RESUME, SUSPEND or REBASE. REBASE is accepted for a table that is suspended, and `INTO 'folder'` only from another
 * server: both messages are those of the documentation. Before QuestDB 10 only a server for developers accepts SUSPEND.
 * @param verb in any case @returns undefined for another verb, and for one that the server does not know
 */
export function parseWalChange(
  cursor: Cursor,
  { has }: NameLookup,
  verb: string,
  { object, name }: FoundObject,
): Exclude<ChangeStatement, { verb: 'alter' }> | undefined {
  const word = verb.toLowerCase();
  const mayRebase = has('rebase') && object.kind !== 'live view';
  if (word !== 'resume' && word !== 'suspend' && !(word === 'rebase' && mayRebase)) return undefined;
  cursor.expect('wal');
  if (object.wal === false) throw cursor.error(`${object.name} is not a WAL table.`);
  if (word === 'resume') return { verb: 'resume wal', name, skips: parseTransaction(cursor) };
  if (word === 'suspend') {
    if (!has('suspend')) throw new RejectionError(0, 'Cannot suspend table, database is not in dev mode');
    return { verb: 'suspend wal', name };
  }
  if (cursor.accept('into')) throw cursor.error('REBASE WAL INTO is only supported on a read-only replica');
  if (object.kind === 'table' && object.columns && !object.isSuspended)
    throw new RejectionError(0, 'REBASE WAL requires the table to be suspended first');
  return { verb: 'rebase wal', name };
}

/** Parses `FROM {TXN | TRANSACTION} n`. @returns whether it comes next */
function parseTransaction(cursor: Cursor): boolean {
  const from = cursor.next();
  if (from === undefined || from === ';') return false;
  cursor.expectToken(from, 'from');
  cursor.requireWord('transaction', 'txn');
  const value = cursor.requireNoSemicolon('transaction value');
  if (parseInt64(value) === undefined) throw cursor.error(`invalid value [value=${value}]`);
  return true;
}
