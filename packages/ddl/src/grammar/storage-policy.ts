/*!
 * STORAGE POLICY of the enterprise edition: how old partitions become Parquet files, move away and go. Its server is
 * closed: the stages are those documented, lengths are read and printed as those of TTL.
 */
import type { Cursor } from './cursor.js';
import { type PartitionUnit, rejectUnevenTtl, type Ttl, ttl } from './partition.js';
import { Rejection } from './rejection.js';

/** The stages, in the order they are printed. */
export const stages = ['TO PARQUET', 'TO REMOTE', 'DROP LOCAL', 'DROP REMOTE'] as const;

export type Stage = (typeof stages)[number];

/** After how long a partition reaches each stage; a disabled one is kept and not printed. */
export interface StoragePolicy {
  readonly after: { readonly [stage in Stage]?: Ttl };
  readonly disabled?: boolean;
}

/** After STORAGE: `POLICY(TO PARQUET 3 DAYS, DROP LOCAL 1 MONTH)`. */
export function storagePolicy(cursor: Cursor, unit: PartitionUnit): StoragePolicy {
  cursor.expect('policy');
  cursor.expect('(');
  const after: { [stage in Stage]?: Ttl } = {};
  do {
    const stage = stageOf(cursor);
    if (after[stage] !== undefined) throw new Rejection(cursor.at, `duplicate storage policy stage [stage=${stage}]`);
    const length = ttl(cursor);
    if (length.ttl === 0) throw new Rejection(length.position, 'storage policy TTL must be positive');
    rejectUnevenTtl(unit, length.ttl, length.position);
    after[stage] = length.ttl;
  } while (cursor.require("',' or ')'") === ',');
  cursor.back();
  cursor.expect(')');
  return { after };
}

function stageOf(cursor: Cursor): Stage {
  const words = [cursor.require("'to' or 'drop'")];
  const { at } = cursor;
  words.push(cursor.require("'parquet', 'remote' or 'local'"));
  const named = words.join(' ').toUpperCase();
  const stage = stages.find(stage => stage === named);
  if (!stage) throw new Rejection(at, `${stages.map(stage => `'${stage}'`).join(', ')} expected`);
  return stage;
}

/** What TTL in CREATE means where there are storage policies: local data goes. */
export const policyOfTtl = (ttl: Ttl): StoragePolicy | undefined =>
  ttl === 0 ? undefined : { after: { 'DROP LOCAL': ttl } };
