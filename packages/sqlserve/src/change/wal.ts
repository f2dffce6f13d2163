/*! RESUME WAL and SUSPEND WAL of a table or a materialized view: nothing is ever suspended here. */
import { type Cursor, is, parseInt64, Rejection } from '@sqlpipe/ddl/grammar';

/** Behind RESUME: `WAL [FROM {TXN | TRANSACTION} n]`. */
export function resumeWal(cursor: Cursor, table: { name: string; wal: boolean }): void {
  walOf(cursor, table);
  const from = cursor.next();
  if (from !== undefined && from !== ';') {
    cursor.expectThis(from, 'from');
    const token = cursor.need("'transaction' or 'txn'");
    if (!is(token, 'transaction') && !is(token, 'txn'))
      throw new Rejection(cursor.at, "'transaction' or 'txn' expected");
    const value = cursor.need('transaction value');
    if (parseInt64(value) === undefined) throw new Rejection(cursor.at, `invalid value [value=${value}]`);
  }
}

/** Behind SUSPEND. */
export function suspendWal(cursor: Cursor, table: { name: string; wal: boolean }): never {
  walOf(cursor, table);
  throw new Rejection(0, 'Cannot suspend table, database is not in dev mode');
}

function walOf(cursor: Cursor, { name, wal }: { name: string; wal: boolean }): void {
  const token = cursor.need("'wal'");
  cursor.expectThis(token, 'wal');
  if (!wal) throw new Rejection(cursor.at, `${name} is not a WAL table.`);
}
