/*! The meaning of a statement that changes existing objects. */
import type { Kind } from '@sqlpipe/sql';
import type { Alter, Alteration } from '../alteration.js';

/** A statement that changes, fills or refreshes existing objects. Names are as written. */
export type ChangeStatement =
  | { readonly verb: 'alter'; readonly alters: readonly Alter[] }
  | { readonly verb: 'drop'; readonly kind: Kind; readonly name: string }
  | { readonly verb: 'drop all' }
  | { readonly verb: 'rename'; readonly name: string; readonly to: string }
  | { readonly verb: 'truncate'; readonly names: readonly string[] }
  | { readonly verb: 'update' | 'insert'; readonly name: string }
  | { readonly verb: 'refresh'; readonly name: string; readonly isFull: boolean }
  | PartitionChange
  /** Changes that no definition shows. */
  | {
      readonly verb: 'refresh range' | 'refresh stats' | 'squash partitions' | 'vacuum';
      readonly name: string;
    }
  /** `skips`: whether it resumes from a given transaction, and skips those before it. */
  | { readonly verb: 'resume wal'; readonly name: string; readonly skips: boolean }
  /** Discards the transactions that are not applied. */
  | { readonly verb: 'rebase wal'; readonly name: string }
  /** From then on, no transaction is applied until RESUME WAL. */
  | { readonly verb: 'suspend wal'; readonly name: string }
  /** The position is that of the name, and of the rejection of an invalid view. */
  | { readonly verb: 'compile'; readonly name: string; readonly position: number }
  /** `wal`: whether the table has a WAL after the next start of the server. */
  | { readonly verb: 'set type'; readonly name: string; readonly wal: boolean }
  | { readonly verb: 'set refresh limit'; readonly name: string; readonly limit: number };

/** Makes an ALTER of one object. */
export const toAlter = (
  { object: { kind }, name }: { readonly object: Pick<Alter, 'kind'>; readonly name: string },
  ...alterations: Alteration[]
): ChangeStatement => ({ verb: 'alter', alters: alterations.map(alteration => ({ kind, name, alteration })) });

/** A statement about some partitions, which are not parsed. The position is that of the word PARTITION. */
export interface PartitionChange {
  readonly verb: `${'drop' | 'force drop' | 'attach' | 'detach' | 'convert'} partition`;
  readonly name: string;
  readonly position: number;
}

/** The tables to whose WAL a server writes a statement. For RENAME, both names. */
export function changedTables(change: ChangeStatement): readonly string[] {
  switch (change.verb) {
    case 'alter':
      return change.alters.slice(0, 1).map(({ name }) => name);
    case 'rename':
      return [change.name, change.to];
    case 'truncate':
      return change.names;
    case 'update':
    case 'insert':
    case 'drop partition':
    case 'force drop partition':
    case 'attach partition':
    case 'detach partition':
    case 'convert partition':
      return [change.name];
    default:
      return [];
  }
}
