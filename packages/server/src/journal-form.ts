/*! The form of the changes in a journal. JSON can say anything; the engine relies on these properties and their types. */
import type { Assumption, Grant, Membership, Refresh } from '@sqlpipe/ddl';
import type { StoragePolicy } from '@sqlpipe/ddl/grammar';
import type {
  AclChange,
  CatalogueObject,
  LiveView,
  MaterializedView,
  Principal,
  StoredColumn,
  StoredToken,
  Table,
  View,
} from '@sqlpipe/engine';
import { isPrincipal, KINDS } from '@sqlpipe/sql';

/** One change that a statement made; only the edition with access control has `acl`. */
export type JournalChange = { readonly put: CatalogueObject } | { readonly drop: string } | { readonly acl: AclChange };

type Check = (value: unknown) => boolean;

/** A check for each property of a type, so that the compiler notices one that is missing. */
type Form<T> = { readonly [Key in keyof T]-?: Check };

const isText: Check = value => typeof value === 'string';
const isNumber: Check = value => typeof value === 'number';
const isFlag: Check = value => typeof value === 'boolean';
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const is =
  (expected: unknown): Check =>
  value =>
    value === expected;
const optional =
  (check: Check): Check =>
  value =>
    value === undefined || check(value);
const oneOf =
  (...checks: Check[]): Check =>
  value =>
    checks.some(check => check(value));
const listOf =
  (check: Check): Check =>
  value =>
    Array.isArray(value) && value.every(check);
const form =
  <T>(checks: Form<T>): Check =>
  value =>
    isRecord(value) && Object.entries<Check>(checks).every(([key, check]) => check(value[key]));

const isIndex = oneOf(
  form({ type: is('BITMAP'), capacity: isNumber }),
  form({ type: isText, covered: listOf(isText), capacity: is(undefined) }),
);

const isColumn = form<StoredColumn>({
  id: optional(isNumber),
  name: isText,
  type: isText,
  cached: isFlag,
  capacity: optional(isNumber),
  dedup: isFlag,
  index: optional(isIndex),
  parquet: optional(isText),
  isGuess: optional(isFlag),
});

const isPolicy = form<StoragePolicy>({
  after: value => isRecord(value) && Object.values(value).every(isNumber),
  disabled: optional(isFlag),
});

const isRefresh = form<Refresh>({
  type: oneOf(...['IMMEDIATE', 'MANUAL', 'EVERY'].map(is)),
  deferred: isFlag,
  every: optional(isText),
  start: optional(isText),
  timeZone: optional(isText),
  period: optional(form({ length: isText, delay: optional(isText) })),
});

const common = {
  id: optional(isNumber),
  name: isText,
  owner: optional(isText),
  columns: listOf(isColumn),
  timestamp: optional(isText),
  isUncompiled: optional(isFlag),
  opaque: optional(isText),
};
const stored = {
  partitionBy: oneOf(...['NONE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'YEAR'].map(is)),
  ttl: isNumber,
  volume: optional(isText),
};
const derived = { body: isText, references: listOf(isText) };

const isTable = form<Table>({
  ...common,
  ...stored,
  kind: is('table'),
  wal: isFlag,
  parquet: isFlag,
  policy: optional(isPolicy),
  maxUncommittedRows: optional(isNumber),
  o3MaxLag: optional(isNumber),
  like: is(undefined),
  query: is(undefined),
  structure: optional(isNumber),
  isSuspended: optional(isFlag),
});

const isView = form<View>({
  ...common,
  ...derived,
  kind: is('view'),
  invalid: optional(form({ reason: isText, position: isNumber })),
  sources: optional(listOf(isText)),
  isStale: optional(isFlag),
});

const isMaterializedView = form<MaterializedView>({
  ...common,
  ...stored,
  ...derived,
  kind: is('materialized view'),
  base: isText,
  interval: isText,
  refresh: isRefresh,
  expire: optional(isText),
  indexes: is(undefined),
  invalid: optional(isText),
  isInvalidEarly: optional(isFlag),
  neverRefreshed: optional(isFlag),
  partlyRefreshed: optional(isFlag),
  inputs: optional(listOf(isText)),
});

const isLiveView = form<LiveView>({
  ...common,
  ...stored,
  ...derived,
  kind: is('live view'),
  base: isText,
  flush: isText,
  inMemory: isText,
  start: isText,
  invalid: optional(isText),
});

const isStoredPrincipal = form<Principal>({
  kind: oneOf(...KINDS.filter(isPrincipal).map(is)),
  name: isText,
  password: optional(isText),
  tokens: listOf(form<StoredToken>({ digest: isText, expires: isNumber, refresh: optional(isNumber) })),
  disabled: optional(isFlag),
  alias: optional(isText),
});

const isRight = oneOf(
  form<Grant>({
    kind: is('grant'),
    permission: isText,
    entity: isText,
    option: isFlag,
    table: optional(isText),
    column: optional(isText),
  }),
  form<Assumption>({ kind: is('assumption'), account: isText, entity: isText, option: isFlag }),
  form<Membership>({ kind: is('membership'), user: isText, group: isText }),
);

const isAclChange = oneOf(
  form({ put: isStoredPrincipal }),
  form({ remove: isText }),
  form({ grant: isRight }),
  form({ revoke: isRight }),
);

const isChange = oneOf(
  form({ put: oneOf(isTable, isView, isMaterializedView, isLiveView) }),
  form({ drop: isText }),
  form({ acl: isAclChange }),
);

/** Whether a line of a journal, parsed, has the changes of a statement. */
export const areChanges = (value: unknown): value is JournalChange[] => listOf(isChange)(value);
