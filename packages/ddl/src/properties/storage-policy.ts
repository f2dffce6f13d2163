/*!
 * The storage policy that the enterprise edition has for tables in the place of a TTL. The source of that server is not public: the stages
 * are those of its documentation, and lengths have the syntax of TTL.
 */
import type { LocatedName } from '@sqlpipe/sql';
import type { Age, Definition, PartitionUnit, StoragePolicy } from '../definition.js';
import { formatAge, isEvenAge, parseAge, rejectUnevenAge } from '../grammar/ages.js';
import type { Cursor } from '../grammar/cursor.js';
import type { HasFeature } from '../grammar/features.js';
import type { FoundObject } from '../grammar/lookup.js';
import { RejectionError } from '../grammar/rejection-error.js';
import { property } from '../property.js';

const STAGES: readonly Stage[] = ['TO PARQUET', 'TO REMOTE', 'DROP LOCAL', 'DROP REMOTE'];

type Stage = keyof StoragePolicy['after'];

/** Parses `POLICY(TO PARQUET 3 DAYS, DROP LOCAL 1 MONTH)` after STORAGE. @param stages receives the stages that it names */
function parseStoragePolicy(cursor: Cursor, unit: PartitionUnit, stages: LocatedName[]): StoragePolicy {
  cursor.expect('policy');
  cursor.expect('(');
  const after: { [stage in Stage]?: Age } = {};
  do {
    const stage = parseStage(cursor);
    stages.push({ name: stage, position: cursor.at });
    if (after[stage] !== undefined) throw cursor.error(`duplicate storage policy stage [stage=${stage}]`);
    const length = parseAge(cursor);
    if (length.age === 0) throw new RejectionError(length.position, 'storage policy TTL must be positive');
    rejectUnevenAge(unit, length.age, length.position);
    after[stage] = length.age;
  } while (cursor.require("',' or ')'") === ',');
  cursor.unread();
  cursor.expect(')');
  return { after };
}

/** Requires that a server can follow a policy. @param stages where the statement names its stages */
export function rejectImpossiblePolicy(
  policy: StoragePolicy | undefined,
  stages: readonly LocatedName[],
  has: HasFeature,
): void {
  if (!policy) return;
  const { after } = policy;
  const reject = (stage: Stage, problem: string): RejectionError =>
    new RejectionError(stages.find(({ name }) => name === stage)?.position ?? 0, problem);
  if (after['DROP REMOTE'] !== undefined && !has('drop remote'))
    throw reject('DROP REMOTE', "'DROP REMOTE' is not supported yet");
  for (const stage of ['TO PARQUET', 'TO REMOTE'] as const) {
    const dropped = after['DROP LOCAL'];
    if (dropped === undefined || longestHours(after[stage] ?? 0) <= longestHours(dropped)) continue;
    throw reject(stage, `storage policy stage is later than DROP LOCAL [stage=${stage}]`);
  }
}

/** Hours are positive, months negative. */
const longestHours = (ttl: Age): number => (ttl < 0 ? -ttl * 31 * 24 : ttl);

function parseStage(cursor: Cursor): Stage {
  const words = [cursor.require("'to' or 'drop'")];
  const { at } = cursor;
  words.push(cursor.require("'parquet', 'remote' or 'local'"));
  const named = words.join(' ').toUpperCase();
  const stage = STAGES.find(stage => stage === named);
  if (!stage) throw new RejectionError(at, `${STAGES.map(stage => `'${stage}'`).join(', ')} expected`);
  return stage;
}

/** Whether a storage policy only drops data. The enterprise edition turns a TTL into such a policy. */
export const isTtl = ({ after, disabled }: StoragePolicy): boolean =>
  !disabled && Object.keys(after).join() === 'DROP LOCAL';

/** What an object says of its retention. Only tables have a policy. */
export type WithRetention = Pick<Definition & { readonly ttl: Age }, 'kind' | 'ttl'> & {
  readonly policy?: StoragePolicy | undefined;
  readonly partitionBy?: PartitionUnit | undefined;
};

const formatStages = ({ after }: StoragePolicy): string =>
  STAGES.flatMap(stage => (after[stage] === undefined ? [] : `${stage} ${formatAge(after[stage])}`)).join(', ');

const DROP_POLICY = { action: 'storage policy', policy: undefined } as const;

export const STORAGE_POLICY = property<
  WithRetention,
  /** If undefined, the policy is dropped. */
  | { readonly action: 'storage policy'; readonly policy: StoragePolicy | undefined }
  /** Stores whether the policy is followed. */
  | { readonly action: 'storage policy state'; readonly disabled: boolean }
>({
  name: 'storage policy',
  value: ({ policy }) => (policy && !policy.disabled && !isTtl(policy) ? `(${formatStages(policy)})` : 'none'),
  parse(reader) {
    if (reader.context.isEnterprise === false || !reader.begins('storage')) return undefined;
    const { cursor, definition, positions } = reader;
    return { policy: parseStoragePolicy(cursor, definition.partitionBy ?? 'NONE', positions.stages) };
  },
  // On a line of its own in the place of the TTL, as in the only documented example.
  print: ({ policy }) => (policy && !policy.disabled ? `\nSTORAGE POLICY(${formatStages(policy)})` : ''),
  // The TTL after which no data is left, if there is such a time.
  translate({ policy }, { isEnterprise }) {
    if (!policy || isEnterprise) return undefined;
    const { 'TO REMOTE': remote, 'DROP LOCAL': local, 'DROP REMOTE': end } = policy.after;
    const ttl = end ?? (remote === undefined ? local : undefined);
    const clause = ttl === undefined ? '' : `TTL ${formatAge(ttl)}`;
    const loss = isTtl(policy)
      ? {}
      : { loss: `STORAGE POLICY(${formatStages(policy)}) becomes ${clause || 'nothing'}` };
    return { clause: clause && ` ${clause}`, ...loss };
  },
  alter: {
    actions: ['storage policy', 'storage policy state'],
    sets: ['storage policy', 'TTL'],
    expiresRows: true,
    isKnown: ({ isEnterprise }) => isEnterprise !== false,
    syntax: {
      'set storage'(cursor, { isEnterprise, has }, { object: { partitionBy = 'HOUR' } }) {
        const stages: LocatedName[] = [];
        const policy = parseStoragePolicy(cursor, partitionBy, stages);
        if (isEnterprise) rejectImpossiblePolicy(policy, stages, has);
        return { action: 'storage policy', policy };
      },
      'drop storage'(cursor) {
        cursor.expect('policy');
        return DROP_POLICY;
      },
      'enable storage': (cursor, _, altered) => parsePolicyState(cursor, altered, false),
      'disable storage': (cursor, _, altered) => parsePolicyState(cursor, altered, true),
    },
    print(alteration) {
      if (alteration.action === 'storage policy state')
        return `${alteration.disabled ? 'DISABLE' : 'ENABLE'} STORAGE POLICY`;
      return alteration.policy ? `SET STORAGE POLICY(${formatStages(alteration.policy)})` : 'DROP STORAGE POLICY';
    },
    apply(table, alteration) {
      if (alteration.action === 'storage policy') return { ...table, ttl: 0, policy: alteration.policy };
      return table.policy ? { ...table, policy: { ...table.policy, disabled: alteration.disabled } } : table;
    },
    permission(alteration) {
      if (alteration.action === 'storage policy state')
        return `${alteration.disabled ? 'DISABLE' : 'ENABLE'} STORAGE POLICY`;
      return alteration.policy ? 'SET STORAGE POLICY' : 'REMOVE STORAGE POLICY';
    },
    find(wanted, now, { isEnterprise }) {
      if (!isEnterprise) return undefined;
      const [policy, present] = [policyOf(wanted), policyOf(now)];
      const isEven = Object.values(policy?.after ?? {}).every(length => isEvenAge(now.partitionBy ?? 'DAY', length));
      const isSame = followedStages(policy) === followedStages(present);
      return isSame || !isEven ? undefined : { action: 'storage policy', policy };
    },
  },
  unalterable: 'the open source edition has no storage policies',
});

function parsePolicyState(cursor: Cursor, { object: { columns, policy, name } }: FoundObject, disabled: boolean) {
  cursor.expect('policy');
  if (columns && !policy) throw cursor.error(`table has no storage policy [table=${name}]`);
  return { action: 'storage policy state', disabled } as const;
}

/** The storage policy of a table: the enterprise edition turns a TTL in CREATE into one that drops local data. */
export const policyOf = ({ ttl, policy }: Pick<WithRetention, 'ttl' | 'policy'>): StoragePolicy | undefined =>
  policy ?? (ttl === 0 ? undefined : { after: { 'DROP LOCAL': ttl } });

const followedStages = (policy: StoragePolicy | undefined): string =>
  policy && !policy.disabled ? formatStages(policy) : '';
