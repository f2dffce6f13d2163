/*!
 * STORAGE POLICY of the enterprise edition: when partitions are converted to Parquet, moved and dropped. The source of
 * that server is not public: the stages are those of its documentation, and lengths have the syntax of TTL.
 */
import type { Cursor } from './cursor.js';
import type { HasFeature } from './features.js';
import { type PartitionUnit, parseTtl, rejectUnevenTtl, type Ttl } from './partition.js';
import { RejectionError } from './rejection-error.js';

/** The stages, in the order they are printed. */
export const STAGES = ['TO PARQUET', 'TO REMOTE', 'DROP LOCAL', 'DROP REMOTE'] as const;

export type Stage = (typeof STAGES)[number];

/** The age at which a partition reaches each stage. A disabled policy is stored but not printed. */
export interface StoragePolicy {
  readonly after: { readonly [stage in Stage]?: Ttl };
  readonly disabled?: boolean;
}

/** Parses `POLICY(TO PARQUET 3 DAYS, DROP LOCAL 1 MONTH)` after STORAGE. */
export function parseStoragePolicy(cursor: Cursor, unit: PartitionUnit): StoragePolicy {
  cursor.expect('policy');
  cursor.expect('(');
  const after: { [stage in Stage]?: Ttl } = {};
  const places: { [stage in Stage]?: number } = {};
  do {
    const stage = parseStage(cursor);
    places[stage] ??= cursor.at;
    if (after[stage] !== undefined)
      throw new RejectionError(cursor.at, `duplicate storage policy stage [stage=${stage}]`);
    const length = parseTtl(cursor);
    if (length.ttl === 0) throw new RejectionError(length.position, 'storage policy TTL must be positive');
    rejectUnevenTtl(unit, length.ttl, length.position);
    after[stage] = length.ttl;
  } while (cursor.require("',' or ')'") === ',');
  cursor.unread();
  cursor.expect(')');
  const policy = { after };
  stagePlaces.set(policy, places);
  return policy;
}

/** Where a statement names the stages of a policy. */
const stagePlaces = new WeakMap<StoragePolicy, { readonly [stage in Stage]?: number }>();

/** Requires that a server can follow a policy. */
export function rejectImpossiblePolicy(policy: StoragePolicy | undefined, has: HasFeature): void {
  if (!policy) return;
  const { after } = policy;
  const reject = (stage: Stage, problem: string): RejectionError =>
    new RejectionError(stagePlaces.get(policy)?.[stage] ?? 0, problem);
  if (after['DROP REMOTE'] !== undefined && !has('drop remote'))
    throw reject('DROP REMOTE', "'DROP REMOTE' is not supported yet");
  for (const stage of ['TO PARQUET', 'TO REMOTE'] as const) {
    const dropped = after['DROP LOCAL'];
    if (dropped === undefined || longestHours(after[stage] ?? 0) <= longestHours(dropped)) continue;
    throw reject(stage, `storage policy stage is later than DROP LOCAL [stage=${stage}]`);
  }
}

/** Hours are positive, months negative. */
const longestHours = (ttl: Ttl): number => (ttl < 0 ? -ttl * 31 * 24 : ttl);

function parseStage(cursor: Cursor): Stage {
  const words = [cursor.require("'to' or 'drop'")];
  const { at } = cursor;
  words.push(cursor.require("'parquet', 'remote' or 'local'"));
  const named = words.join(' ').toUpperCase();
  const stage = STAGES.find(stage => stage === named);
  if (!stage) throw new RejectionError(at, `${STAGES.map(stage => `'${stage}'`).join(', ')} expected`);
  return stage;
}

/** The storage policy that a TTL in CREATE means on a server with storage policies: local data is dropped. */
export const ttlToPolicy = (ttl: Ttl): StoragePolicy | undefined =>
  ttl === 0 ? undefined : { after: { 'DROP LOCAL': ttl } };
