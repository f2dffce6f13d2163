/*!
 * When rows of an object expire: by a TTL or by a storage policy. Some functions also consider EXPIRE ROWS (expire-rows.ts). Storage
 * policies exist only in the enterprise edition, which is closed source. Their ages are assumed to have the syntax of a TTL.
 */
import type { LocatedName } from '@sqlpipe/sql';
import {
  type Age,
  ASSUMED_PARTITION,
  type Definition,
  type MaterializedViewDefinition,
  type PartitionUnit,
  STORAGE_STAGES,
  type StoragePolicy,
  type TableDefinition,
} from '../definition.js';
import type { HasFeature } from '../features.js';
import type { ClauseSpans } from '../parser/clause-reader.js';
import { type Cursor, RejectionError } from '../parser/cursor.js';
import { type FoundObject, hasKnownDefinition } from '../parser/lookup.js';
import { parseAge, printAge } from '../parser/numbers.js';
import { defineProperty } from '../property.js';
import { normalizeRule } from './expire-rows.js';

/** The storage policy in force; undefined if there is none or it is disabled. `TTL 3 DAYS` counts as the policy `(DROP LOCAL 3 DAYS)`. */
function policyOf({ ttl, policy }: Pick<RetentionFields, 'ttl' | 'policy'>): StoragePolicy | undefined {
  if (policy) return policy.disabled ? undefined : policy;
  return ttl === 0 ? undefined : { after: { 'DROP LOCAL': ttl } };
}

/** The TTL and the policy that a server stores. A server with storage policies stores a TTL as a policy, so its TTL is 0. */
export const retentionOf = (object: RetentionFields, hasFeature?: HasFeature) =>
  hasFeature?.('storage policies') ? { ttl: 0, policy: policyOf(object) } : { ttl: object.ttl, policy: object.policy };

/** The TTL of an object. A policy with DROP LOCAL as its only stage counts as a TTL. With any other policy, the TTL is 0. */
function ttlOf(object: RetentionFields): Age {
  const { 'DROP LOCAL': ttl = 0, ...others } = policyOf(object)?.after ?? {};
  return Object.keys(others).length === 0 ? ttl : 0;
}

export const TTL = defineProperty<RetentionFields, { readonly action: 'ttl'; readonly ttl: Age }>()({
  name: 'TTL',
  value: object => (ttlOf(object) === 0 ? 'none' : printAge(ttlOf(object))),
  words: ['ttl'],
  parse(reader) {
    const { age, position } = parseAge(reader.cursor);
    reader.position = position;
    return { ttl: age };
  },
  check({ ttl = 0, partitionBy }, position, { hasFeature }) {
    if (partitionBy) rejectUnfittingAge(partitionBy, ttl, position, hasFeature);
  },
  print: ({ ttl }) => (ttl === 0 ? '' : ` TTL ${printAge(ttl)}`),
  features: [
    { name: 'TTL', pattern: /ttl/i, isIn: ({ kind, ttl }) => kind === 'table' && ttl !== 0, without: () => '' },
  ],
  translate: ({ kind, ttl }, hasFeature) =>
    hasFeature('storage policies') && kind === 'table' && ttl !== 0
      ? { clause: `\nSTORAGE POLICY(DROP LOCAL ${printAge(ttl)})` }
      : undefined,
  alter: {
    actions: ['ttl'],
    sets: ['TTL'],
    changesExpiry: true,
    syntax: {
      'set ttl'(cursor, { hasFeature }, { object }) {
        const { kind, partitionBy } = object;
        const { age: ttl, position } = parseAge(cursor);
        if (hasKnownDefinition(object) && hasFeature('storage policies') && kind !== 'materialized view' && ttl !== 0)
          throw new RejectionError(position, 'TTL is not supported on Enterprise tables; use a storage policy instead');
        if (partitionBy) rejectUnfittingAge(partitionBy, ttl, position, hasFeature);
        return { action: 'ttl', ttl };
      },
    },
    print: ({ ttl }) => `SET TTL ${ttl === 0 ? '0 HOURS' : printAge(ttl)}`,
    permissions: ['SET TABLE PARAM'],
    between(wanted, current, hasFeature) {
      if (hasFeature('storage policies') && current.kind === 'table') return undefined;
      const ttl = ttlOf(wanted);
      return ttl !== current.ttl && isAcceptedAge(current.partitionBy ?? ASSUMED_PARTITION, ttl)
        ? { action: 'ttl', ttl }
        : undefined;
    },
  },
  unalterable: { reason: 'a TTL has to fit the partitions; with partitions by month or year, it cannot be removed' },
});

/** With PARTITION BY DAY, servers accept `TTL 1 DAY` but not `TTL 1 HOUR`. With MONTH or YEAR, they reject even 0 (observed on 9.3.4). */
function isAcceptedAge(unit: PartitionUnit, age: Age): boolean {
  const isInMonths = age < 0;
  return {
    NONE: false,
    HOUR: true,
    DAY: isInMonths || age % 24 === 0,
    WEEK: isInMonths || age % 168 === 0,
    MONTH: isInMonths,
    YEAR: isInMonths && age % 12 === 0,
  }[unit];
}

function rejectUnfittingAge(unit: PartitionUnit, age: Age, position: number, hasFeature: HasFeature): void {
  if (unit === 'NONE') throw new RejectionError(position, 'cannot set TTL on a non-partitioned table');
  if (isAcceptedAge(unit, age)) return;
  const size = hasFeature('long TTL message') ? 'the partition size (its time interval)' : 'partition size';
  throw new RejectionError(position, `TTL value must be an integer multiple of ${size}`);
}

/**
 * Checks the TTL of a view without PARTITION BY, when the server has chosen the partitions. For a materialized view, the server checks only
 * a TTL in hours, days or weeks then (observed on 9.3.4).
 */
export function recheckRetention(
  spans: ClauseSpans,
  { kind, ttl, partitionBy }: RetentionFields,
  { hasFeature }: { readonly hasFeature: HasFeature },
): void {
  const position = spans.get(TTL.name)?.position;
  if (position !== undefined && partitionBy && (kind !== 'materialized view' || ttl > 0))
    rejectUnfittingAge(partitionBy, ttl, position, hasFeature);
}

/** The retention of a definition that states none. */
export const NO_RETENTION = { ttl: 0 } as const;

/** Removes the expiry: the TTL, the storage policy and EXPIRE ROWS. */
export const withoutExpiry = <S extends TableDefinition | MaterializedViewDefinition>(stored: S): S => ({
  ...stored,
  ...{ ...NO_RETENTION, policy: undefined, expire: undefined },
});

/**
 * Which rows a change expires, as the end of the sentence `expires rows of table 't' …`. Undefined if the change expires no rows.
 * - If the object gets another rule of EXPIRE ROWS: `by the rule KEEP LATEST`
 * - Otherwise, if rows expire at an earlier age: `that are older than 2 DAYS`
 */
export function formatExpiredRows(before: Definition | undefined, after: Definition | undefined): string | undefined {
  const rule = findNewRule(before, after);
  if (rule !== undefined) return `by the rule ${rule}`;
  const age = findShorterAge(before, after);
  return age === undefined ? undefined : `that are older than ${printAge(age)}`;
}

/** Whether `after` expires rows that `before` keeps, by another rule of EXPIRE ROWS or at an earlier age. */
export const expiresMoreRows = (before: Definition | undefined, after: Definition | undefined): boolean =>
  findNewRule(before, after) !== undefined || findShorterAge(before, after) !== undefined;

/** Whether rows of an object expire at all. */
export const expiresRows = (object: Definition | undefined): boolean => expiresMoreRows(undefined, object);

function findNewRule(before: Definition | undefined, after: Definition | undefined): string | undefined {
  const [formerRule, rule] = [before, after].map(each => (each && 'expire' in each ? each.expire : undefined));
  return normalizeRule(rule) === normalizeRule(formerRule) ? undefined : rule;
}

function findShorterAge(before: Definition | undefined, after: Definition | undefined): Age | undefined {
  const [formerAges = [], ages = []] = [before, after].map(each => (each && 'ttl' in each ? agesOf(each) : []));
  return ages.find((age, i) => age !== 0 && age !== formerAges[i] && !isAtLeast(age, formerAges[i] ?? 0));
}

/** The ages at which local and remote rows expire; 0 if the rows never expire. */
function agesOf(object: Pick<RetentionFields, 'ttl' | 'policy'>): readonly [local: Age, remote: Age] {
  const { 'DROP LOCAL': local = 0, 'DROP REMOTE': remote = 0 } = policyOf(object)?.after ?? {};
  return [local, remote];
}

/**
 * The age at which rows expire; 0 if they never expire. With a storage policy, it is the age of DROP LOCAL or of DROP REMOTE, whichever is
 * earlier. DROP LOCAL counts even after TO REMOTE, because nothing shows whether the remote rows are complete.
 */
export function retentionAgeOf(object: Pick<RetentionFields, 'ttl' | 'policy'>): Age {
  const [local, remote] = agesOf(object);
  return local === 0 || isAtLeast(local, remote) ? remote : local;
}

/** Whether `age`, which is not 0, is at least as long as `than`, whatever the lengths of the months are. False if `than` is 0 (never). */
function isAtLeast(age: Age, than: Age): boolean {
  if (than === 0) return false;
  if (age > 0 === than > 0) return Math.abs(age) >= Math.abs(than);
  return age > 0 ? age >= maxHours(than) : -age * 28 * 24 >= than;
}

/**
 * Changes `wanted` so that it expires no more rows than `former`: it gets the former rule, the former TTL and policy, or all of them.
 * @returns undefined if `wanted` expires no additional rows, or if an age of the former retention does not fit the partitions of `wanted`
 */
export function keepExpiry<Stored extends TableDefinition | MaterializedViewDefinition>(
  wanted: Stored,
  former: Stored,
): Stored | undefined {
  const { partitionBy } = wanted;
  if (!expiresMoreRows(former, wanted)) return undefined;
  const withFormerRule =
    wanted.kind === 'materialized view' && former.kind === wanted.kind
      ? { ...wanted, expire: wanted.expire && former.expire }
      : wanted;
  if (findShorterAge(former, wanted) === undefined) return withFormerRule;
  if (!partitionBy || !hasAcceptedAges(policyOf(former), partitionBy)) return undefined;
  return { ...withFormerRule, ttl: former.ttl, ...(former.kind === 'table' && { policy: former.policy }) };
}

type Stage = keyof StoragePolicy['after'];

/** Parses `POLICY(TO PARQUET 3 DAYS, DROP LOCAL 1 MONTH)`. @param stages receives each stage, with the start of its second word */
function parseStoragePolicy(cursor: Cursor, unit: PartitionUnit, stages: LocatedName[]): StoragePolicy {
  cursor.expect('policy');
  cursor.expect('(');
  const after: { [stage in Stage]?: Age } = {};
  do {
    const first = cursor.require("'to' or 'drop'");
    const { start } = cursor;
    const phrase = `${first} ${cursor.require("'parquet', 'remote' or 'local'")}`.toUpperCase();
    const stage = STORAGE_STAGES.find(each => each === phrase);
    if (!stage) throw new RejectionError(start, `${STORAGE_STAGES.map(each => `'${each}'`).join(', ')} expected`);
    stages.push({ name: stage, start: cursor.start });
    if (after[stage] !== undefined) throw cursor.error(`duplicate storage policy stage [stage=${stage}]`);
    const { age, position } = parseAge(cursor);
    if (age === 0) throw new RejectionError(position, 'storage policy TTL must be positive');
    rejectUnfittingAge(unit, age, position, () => true); // servers with storage policies have all other features too
    after[stage] = age;
  } while (cursor.require("',' or ')'") === ',');
  cursor.unread();
  cursor.expect(')');
  return { after };
}

/** Rejects DROP REMOTE if the server lacks it. Rejects a TO stage that is later than DROP LOCAL, because the rows would be gone by then. */
export function rejectImpossiblePolicy(
  policy: StoragePolicy | undefined,
  stages: readonly LocatedName[],
  hasFeature: HasFeature,
): void {
  const { 'DROP LOCAL': dropLocal, ...after } = policy?.after ?? {};
  const positionOf = (stage: Stage) => stages.find(({ name }) => name === stage)?.start ?? 0;
  if (after['DROP REMOTE'] !== undefined && !hasFeature('drop remote'))
    throw new RejectionError(positionOf('DROP REMOTE'), "'DROP REMOTE' is not supported yet");
  const lateStage = (['TO PARQUET', 'TO REMOTE'] as const).find(
    stage => dropLocal !== undefined && maxHours(after[stage] ?? 0) > maxHours(dropLocal),
  );
  if (lateStage)
    throw new RejectionError(
      positionOf(lateStage),
      `storage policy stage is later than DROP LOCAL [stage=${lateStage}]`,
    );
}

/** The maximum number of hours in an age: a month has up to 31 days. */
const maxHours = (age: Age): number => (age < 0 ? -age * 31 * 24 : age);

type RetentionFields = Pick<Definition & { readonly ttl: Age }, 'kind' | 'ttl'> & {
  /** Only tables have a storage policy. */
  readonly policy?: StoragePolicy | undefined;
  readonly partitionBy?: PartitionUnit | undefined;
};

/** Prints the stages of a policy in parentheses; '' without a policy. */
const printStages = ({ after }: StoragePolicy = { after: {} }): string => {
  const stages = STORAGE_STAGES.flatMap(stage =>
    after[stage] === undefined ? [] : `${stage} ${printAge(after[stage])}`,
  );
  return stages.length > 0 ? `(${stages.join(', ')})` : '';
};

type PolicyAlteration =
  /** `policy` is undefined for DROP STORAGE POLICY. */
  | { readonly action: 'storage policy'; readonly policy: StoragePolicy | undefined }
  | { readonly action: 'storage policy state'; readonly disabled: boolean };

function firstWordOf(alteration: PolicyAlteration): string {
  if (alteration.action === 'storage policy') return alteration.policy ? 'SET' : 'DROP';
  return alteration.disabled ? 'DISABLE' : 'ENABLE';
}

const STORAGE_POLICY = defineProperty<RetentionFields, PolicyAlteration>()({
  name: 'storage policy',
  value: object => (ttlOf(object) === 0 && printStages(policyOf(object))) || 'none',
  words: ['storage'],
  feature: 'storage policies',
  // PARTITION BY comes before this clause. A table without PARTITION BY has no partitions, so no age is accepted.
  parse: ({ cursor, definition, clauseNames }) => ({
    policy: parseStoragePolicy(cursor, definition.partitionBy ?? 'NONE', clauseNames.stages),
  }),
  // The only documented example has this clause on a line of its own, where a TTL would be.
  print: ({ policy }) => (policy && !policy.disabled ? `\nSTORAGE POLICY${printStages(policy)}` : ''),
  // The open source edition has only a TTL. The TTL is the age of DROP REMOTE, or else of DROP LOCAL. With TO REMOTE but without DROP
  // REMOTE, remote data is kept forever, so there is no TTL.
  translate(object, hasFeature) {
    const { policy } = object;
    if (!policy || hasFeature('storage policies')) return undefined;
    const { 'TO REMOTE': toRemote, 'DROP LOCAL': dropLocal, 'DROP REMOTE': dropRemote } = policy.after;
    const ttl = dropRemote ?? (toRemote === undefined ? dropLocal : undefined);
    const clause = ttl === undefined ? '' : `TTL ${printAge(ttl)}`;
    const loss =
      ttlOf(object) === 0 ? { loss: `STORAGE POLICY${printStages(policy)} becomes ${clause || 'nothing'}` } : {};
    return { clause: clause && ` ${clause}`, ...loss };
  },
  alter: {
    actions: ['storage policy', 'storage policy state'],
    sets: ['storage policy', 'TTL'],
    changesExpiry: true,
    syntax: {
      'set storage'(cursor, { hasFeature }, { object }) {
        const stages: LocatedName[] = [];
        // If the partitions are not known, every age is accepted, as for partitions by hour.
        const policy = parseStoragePolicy(cursor, object.partitionBy ?? 'HOUR', stages);
        if (hasKnownDefinition(object)) rejectImpossiblePolicy(policy, stages, hasFeature);
        return { action: 'storage policy', policy };
      },
      'drop storage'(cursor) {
        cursor.expect('policy');
        return { action: 'storage policy', policy: undefined };
      },
      enable: (cursor, _, altered) => parsePolicyState(cursor, altered, false),
      disable: (cursor, _, altered) => parsePolicyState(cursor, altered, true),
    },
    print: alteration =>
      `${firstWordOf(alteration)} STORAGE POLICY${'policy' in alteration ? printStages(alteration.policy) : ''}`,
    apply({ policy }, alteration) {
      if (alteration.action === 'storage policy') return { ttl: 0, policy: alteration.policy };
      return policy ? { policy: { ...policy, disabled: alteration.disabled } } : {};
    },
    permissions: ['SET STORAGE POLICY', 'REMOVE STORAGE POLICY', 'ENABLE STORAGE POLICY', 'DISABLE STORAGE POLICY'],
    permission: alteration => `${firstWordOf(alteration).replace('DROP', 'REMOVE')} STORAGE POLICY`,
    between(wanted, current, hasFeature) {
      if (!hasFeature('storage policies')) return undefined;
      const policy = policyOf(wanted);
      const isSame = printStages(policy) === printStages(policyOf(current));
      return isSame || !hasAcceptedAges(policy, current.partitionBy) ? undefined : { action: 'storage policy', policy };
    },
  },
  unalterable: {
    reason: 'only the enterprise edition has storage policies, and their ages have to fit the partitions',
  },
});

function parsePolicyState(cursor: Cursor, { object }: FoundObject, disabled: boolean) {
  cursor.expect('storage', 'policy');
  if (hasKnownDefinition(object) && !object.policy)
    throw cursor.error(`table has no storage policy [table=${object.name}]`);
  return { action: 'storage policy state', disabled } as const;
}

/** Whether the server accepts the ages of a policy for these partitions. */
const hasAcceptedAges = (policy: StoragePolicy | undefined, unit: PartitionUnit = ASSUMED_PARTITION): boolean =>
  Object.values(policy?.after ?? {}).every(age => isAcceptedAge(unit, age));

/** For a table, the server accepts these clauses only after PARTITION BY. */
export const RETENTION = [TTL, STORAGE_POLICY] as const;
