/*! Checks the entries of a journal, because the engine relies on their properties and types. */
import type { Assumption, Grant, Membership, Refresh, StoragePolicy } from '@sqlpipe/ddl';
import { PARTITION_UNITS } from '@sqlpipe/ddl/parser';
import type {
  JournalEntry,
  LiveView,
  MaterializedView,
  Principal,
  StoredColumn,
  StoredToken,
  Table,
  View,
} from '@sqlpipe/engine';
import { isPrincipal, KINDS, type ObjectKind } from '@sqlpipe/sql';

type Check = (value: unknown) => boolean;

/** The compiler rejects a property without a check. */
type Shape<T> = { readonly [Key in keyof T]-?: Check };

const isText: Check = value => typeof value === 'string';
const isNumber: Check = value => typeof value === 'number';
const isFlag: Check = value => typeof value === 'boolean';
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const oneOf =
  (...checks: Check[]): Check =>
  value =>
    checks.some(check => check(value));
const is =
  (...values: unknown[]): Check =>
  value =>
    values.includes(value);
const optional = (check: Check): Check => oneOf(is(undefined), check);
const listOf =
  (check: Check): Check =>
  value =>
    Array.isArray(value) && value.every(check);
const shape =
  <T>(checks: Shape<T>): Check =>
  value =>
    isRecord(value) && Object.entries<Check>(checks).every(([key, check]) => check(value[key]));

const each = <Key extends string>(check: Check, ...keys: Key[]) =>
  Object.fromEntries(keys.map(key => [key, check])) as { readonly [Each in Key]: Check };

const isIndex = oneOf(
  shape({ type: is('BITMAP'), capacity: isNumber }),
  shape({ type: isText, covered: listOf(isText), capacity: is(undefined) }),
);

const isColumn = shape<StoredColumn>({
  ...each(isText, 'name', 'type'),
  ...each(isFlag, 'cached', 'dedup'),
  ...each(optional(isNumber), 'id', 'capacity'),
  index: optional(isIndex),
  parquet: optional(isText),
  isGuess: optional(isFlag),
});

const isPolicy = shape<StoragePolicy>({
  after: value => isRecord(value) && Object.values(value).every(isNumber),
  disabled: optional(isFlag),
});

const isRefresh = shape<Refresh>({
  type: is('IMMEDIATE', 'MANUAL', 'EVERY'),
  deferred: isFlag,
  ...each(optional(isText), 'every', 'start', 'timeZone'),
  period: optional(oneOf(is('sample by interval'), shape({ length: isText, delay: optional(isText) }))),
});

const common = {
  name: isText,
  columns: listOf(isColumn),
  ...each(optional(isText), 'owner', 'timestamp', 'opaque'),
  id: optional(isNumber),
  isUncompiled: optional(isFlag),
};
const stored = {
  partitionBy: is(...PARTITION_UNITS),
  ttl: isNumber,
  volume: optional(isText),
};
const derived = { body: isText, references: listOf(isText) };

const isTable = shape<Table>({
  ...common,
  ...stored,
  kind: is('table'),
  policy: optional(isPolicy),
  isSuspended: optional(isFlag),
  ...each(isFlag, 'wal', 'parquet'),
  ...each(optional(isNumber), 'maxUncommittedRows', 'o3MaxLag', 'structure'),
  ...each(is(undefined), 'like', 'query'),
});

const isView = shape<View>({
  ...common,
  ...derived,
  kind: is('view'),
  sources: optional(listOf(isText)),
  isStale: optional(isFlag),
  invalid: optional(shape({ reason: isText, position: isNumber })),
});

const isMaterializedView = shape<MaterializedView>({
  ...common,
  ...stored,
  ...derived,
  kind: is('materialized view'),
  refresh: isRefresh,
  base: isText,
  ...each(optional(isText), 'expire', 'invalid'),
  ...each(optional(isFlag), 'isInvalidEarly', 'neverRefreshed', 'partlyRefreshed'),
  indexes: is(undefined),
  inputs: optional(listOf(isText)),
});

const isLiveView = shape<LiveView>({
  ...common,
  ...stored,
  ...derived,
  kind: is('live view'),
  invalid: optional(isText),
  ...each(isText, 'base', 'flush', 'inMemory', 'start'),
});

const OBJECTS: Readonly<Record<ObjectKind, Check>> = {
  table: isTable,
  view: isView,
  'materialized view': isMaterializedView,
  'live view': isLiveView,
};

const isStoredPrincipal = shape<Principal>({
  kind: is(...KINDS.filter(isPrincipal)),
  name: isText,
  tokens: listOf(shape<StoredToken>({ digest: isText, expires: isNumber, refresh: optional(isNumber) })),
  ...each(optional(isText), 'password', 'alias'),
  disabled: optional(isFlag),
});

const scope = each(optional(isText), 'table', 'column');

const isRight = oneOf(
  shape<Grant>({ kind: is('grant'), permission: isText, entity: isText, option: isFlag, ...scope }),
  shape<Assumption>({ kind: is('assumption'), account: isText, entity: isText, option: isFlag }),
  shape<Membership>({ kind: is('membership'), user: isText, group: isText }),
);

const isAclChange = oneOf(
  shape({ put: isStoredPrincipal }),
  shape({ remove: isText }),
  shape({ grant: isRight }),
  shape({ revoke: isRight }),
);

const isEntry = oneOf(
  shape({ put: oneOf(...Object.values(OBJECTS)) }),
  shape({ drop: isText }),
  shape({ acl: isAclChange }),
);

/** @param value a line of a journal, parsed */
export const areEntries = (value: unknown): value is JournalEntry[] => listOf(isEntry)(value);
