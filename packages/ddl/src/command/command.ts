import { type KindAndName, kindKeywords, type LocatedName, OBJECT_KINDS, type ObjectKind } from '@sqlpipe/sql';
import { ALTER_PERMISSIONS, type Alter, type Alteration } from './alteration.js';

/** A statement that changes, fills or refreshes existing objects. Names are as written. */
export type Command =
  | { readonly action: 'alter'; readonly alters: readonly Alter[] }
  | ({ readonly action: 'drop' } & KindAndName)
  | { readonly action: 'drop all' }
  | { readonly action: 'rename'; readonly name: string; readonly to: string }
  | { readonly action: 'truncate'; readonly names: readonly string[] }
  | { readonly action: 'insert'; readonly name: string }
  /** `columns`: the columns that it sets. */
  | { readonly action: 'update'; readonly name: string; readonly columns: readonly string[] }
  | { readonly action: 'refresh'; readonly name: string; readonly isFull: boolean }
  | PartitionCommand
  | {
      readonly action: 'refresh range' | 'refresh stats' | 'set refresh limit' | 'squash partitions' | 'vacuum';
      readonly name: string;
    }
  /** `wal`: the type of the table after the next start of the server. */
  | { readonly action: 'set type'; readonly name: string; readonly wal: boolean }
  /** `skips`: whether FROM TRANSACTION skips earlier transactions. */
  | { readonly action: 'resume wal'; readonly name: string; readonly skips: boolean }
  /** Discards the transactions that are not applied yet. */
  | { readonly action: 'rebase wal'; readonly name: string }
  /** No transaction is applied until RESUME WAL. */
  | { readonly action: 'suspend wal'; readonly name: string }
  /** `position`: that of the name, where an invalid view is rejected. */
  | { readonly action: 'compile'; readonly name: string; readonly position: number };

export const toAlter = (
  { object: { kind }, name }: { readonly object: Pick<Alter, 'kind'>; readonly name: string },
  ...alterations: Alteration[]
): Command => ({ action: 'alter', alters: alterations.map(alteration => ({ kind, name, alteration })) });

/** A statement about some partitions. The position is that of the word PARTITION. */
export interface PartitionCommand {
  readonly action:
    | `${'drop' | 'force drop' | 'attach' | 'detach'} partition`
    | `convert partition to ${'parquet' | 'native'}`;
  readonly kind: ObjectKind;
  readonly name: string;
  readonly position: number;
  /** The partitions after LIST; undefined if there is a condition after WHERE instead. */
  readonly partitions?: readonly LocatedName[];
}

/** Whether a statement is about some partitions of a table or a view. */
export const isPartitionCommand = (command: Command): command is PartitionCommand =>
  'kind' in command && 'position' in command;

/** Whether a statement stores partitions in another format. That changes no value. */
export const isPartitionConversion = ({ action }: Command): boolean =>
  action === 'convert partition to parquet' || action === 'convert partition to native';

const DROP_PARTITION_PROPERTIES = { permission: 'DROP PARTITION', usesWal: true } as const;
const REFRESH_PROPERTIES = { kind: 'materialized view', permission: 'REFRESH MATERIALIZED VIEW' } as const;

interface ActionProperties {
  /** The kind of the object, by default a table. */
  readonly kind?: ObjectKind;
  readonly permission: string;
  /** Whether a server writes the statement to the WAL of the objects. */
  readonly usesWal?: true;
}

/** ALTER and DROP are not among them: theirs depend on the alteration and on the kind of the object. */
const ACTION_PROPERTIES: Readonly<Record<Exclude<Command['action'], 'alter' | 'drop'>, ActionProperties>> = {
  'drop all': { permission: 'DATABASE ADMIN' },
  rename: { permission: 'RENAME TABLE', usesWal: true },
  truncate: { permission: 'TRUNCATE TABLE', usesWal: true },
  refresh: REFRESH_PROPERTIES,
  'refresh range': REFRESH_PROPERTIES,
  'refresh stats': REFRESH_PROPERTIES,
  insert: { permission: 'INSERT', usesWal: true },
  update: { permission: 'UPDATE', usesWal: true },
  'attach partition': { permission: 'ATTACH PARTITION', usesWal: true },
  'detach partition': { permission: 'DETACH PARTITION', usesWal: true },
  'drop partition': DROP_PARTITION_PROPERTIES,
  'force drop partition': DROP_PARTITION_PROPERTIES,
  'squash partitions': { permission: 'DROP PARTITION' },
  'convert partition to parquet': { permission: 'CONVERT PARTITION TO PARQUET', usesWal: true },
  'convert partition to native': { permission: 'CONVERT PARTITION TO NATIVE', usesWal: true },
  vacuum: { permission: 'VACUUM TABLE' },
  'resume wal': { permission: 'RESUME WAL' },
  'suspend wal': { permission: 'RESUME WAL' },
  'rebase wal': { permission: 'SYSTEM ADMIN' },
  compile: { kind: 'view', permission: 'COMPILE VIEW' },
  'set type': { permission: 'SET TABLE TYPE' },
  'set refresh limit': { kind: 'materialized view', permission: 'SET REFRESH LIMIT' },
};

/** The objects that a statement names; for RENAME, the old and the new name. Empty for DROP ALL TABLES. */
export function objectsOf(command: Command): KindAndName[] {
  if (command.action === 'drop all') return [];
  if (command.action === 'alter') return command.alters.slice(0, 1);
  const kind = 'kind' in command ? command.kind : (ACTION_PROPERTIES[command.action].kind ?? 'table');
  const names = 'names' in command ? command.names : [command.name, ...('to' in command ? [command.to] : [])];
  return names.map(name => ({ kind, name }));
}

/** The permission that a statement requires. For ALTER, see `permissionOfAlteration`. */
export const permissionOfCommand = (command: Exclude<Command, { action: 'alter' }>): string =>
  command.action === 'drop' ? `DROP ${kindKeywords(command.kind)}` : ACTION_PROPERTIES[command.action].permission;

/** The permissions that statements on objects can require. */
export const OBJECT_PERMISSIONS: readonly string[] = [
  ...OBJECT_KINDS.map(kindKeywords).flatMap(kind => [`CREATE ${kind}`, `DROP ${kind}`]),
  ...ALTER_PERMISSIONS,
  ...Object.values(ACTION_PROPERTIES).map(({ permission }) => permission),
];

/** The tables and stored views to whose WAL a server writes a statement. */
export const findWalObjects = (command: Command): readonly KindAndName[] =>
  command.action === 'alter' || (command.action !== 'drop' && ACTION_PROPERTIES[command.action].usesWal)
    ? objectsOf(command)
    : [];
