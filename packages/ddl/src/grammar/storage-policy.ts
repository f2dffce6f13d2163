/*!
 * STORAGE POLICY of the enterprise edition: how old partitions become Parquet files, move away and go. Its server is
 * closed: the stages are those documented, lengths are read and printed as those of TTL.
 */
import type { Cursor } from './cursor.js';
import { type PartitionUnit, parseTtl, rejectUnevenTtl, type Ttl } from './partition.js';
import { RejectionError } from './rejection-error.js';

/** The stages, in the order they are printed. */
export const STAGES = ['TO PARQUET', 'TO REMOTE', 'DROP LOCAL', 'DROP REMOTE'] as const;

export type Stage = (typeof STAGES)[number];

/** After how long a partition reaches each stage; a disabled one is kept and not printed. */
export interface StoragePolicy {
  readonly after: { readonly [stage in Stage]?: Ttl };
  readonly disabled?: boolean;
}

/** After STORAGE: `POLICY(TO PARQUET 3 DAYS, DROP LOCAL 1 MONTH)`. */
export function parseStoragePolicy(cursor: Cursor, unit: PartitionUnit): StoragePolicy {
  cursor.expect('policy');
  cursor.expect('(');
  const after: { [stage in Stage]?: Ttl } = {};
  do {
    const stage = parseStage(cursor);
    if (after[stage] !== undefined)
      throw new RejectionError(cursor.at, `duplicate storage policy stage [stage=${stage}]`);
    const length = parseTtl(cursor);
    if (length.ttl === 0) throw new RejectionError(length.position, 'storage policy TTL must be positive');
    rejectUnevenTtl(unit, length.ttl, length.position);
    after[stage] = length.ttl;
  } while (cursor.require("',' or ')'") === ',');
  cursor.unread();
  cursor.expect(')');
  return { after };
}

function parseStage(cursor: Cursor): Stage {
  const words = [cursor.require("'to' or 'drop'")];
  const { at } = cursor;
  words.push(cursor.require("'parquet', 'remote' or 'local'"));
  const named = words.join(' ').toUpperCase();
  const stage = STAGES.find(stage => stage === named);
  if (!stage) throw new RejectionError(at, `${STAGES.map(stage => `'${stage}'`).join(', ')} expected`);
  return stage;
}

/** What TTL in CREATE means where there are storage policies: local data goes. */
export const ttlToPolicy = (ttl: Ttl): StoragePolicy | undefined =>
  ttl === 0 ? undefined : { after: { 'DROP LOCAL': ttl } };
