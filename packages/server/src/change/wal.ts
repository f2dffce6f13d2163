/*! RESUME WAL and SUSPEND WAL of a table or a materialized view: nothing is ever suspended here. */
import { type Cursor, isWord, parseInt64, RejectionError } from '@sqlpipe/ddl/grammar';

/** After RESUME: `WAL [FROM {TXN | TRANSACTION} n]`. */
export function resumeWal(cursor: Cursor, table: { name: string; wal: boolean }): void {
  expectWal(cursor, table);
  const from = cursor.next();
  if (from !== undefined && from !== ';') {
    cursor.expectToken(from, 'from');
    const token = cursor.requireNoSemicolon("'transaction' or 'txn'");
    if (!isWord(token, 'transaction') && !isWord(token, 'txn'))
      throw new RejectionError(cursor.at, "'transaction' or 'txn' expected");
    const value = cursor.requireNoSemicolon('transaction value');
    if (parseInt64(value) === undefined) throw new RejectionError(cursor.at, `invalid value [value=${value}]`);
  }
}

/** After SUSPEND. */
export function suspendWal(cursor: Cursor, table: { name: string; wal: boolean }): never {
  expectWal(cursor, table);
  throw new RejectionError(0, 'Cannot suspend table, database is not in dev mode');
}

function expectWal(cursor: Cursor, { name, wal }: { name: string; wal: boolean }): void {
  const token = cursor.requireNoSemicolon("'wal'");
  cursor.expectToken(token, 'wal');
  if (!wal) throw new RejectionError(cursor.at, `${name} is not a WAL table.`);
}
