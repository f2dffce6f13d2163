/*! Which rows a change of the retention makes expire. */
import type { Age, Definition, MaterializedViewDefinition, TableDefinition } from '../definition.js';
import { formatAge, isEvenAge } from '../grammar/ages.js';

/**
 * Which rows expire after a change that did not expire before it, as the end of a sentence: `that are older than 2 DAYS`; undefined
 * if none do.
 */
export function findExpiredRows(before: Definition | undefined, after: Definition | undefined): string | undefined {
  const [formerRule, rule] = [before, after].map(each => (each && 'expire' in each ? each.expire : undefined));
  if (rule !== undefined && rule !== formerRule) return `by the rule ${rule}`;
  const [then, now] = [ttlsOf(before), ttlsOf(after)];
  const isShorter = now.some((length, i) => length !== 0 && length !== then[i] && !isAtLeast(length, then[i] ?? 0));
  return isShorter ? `that are older than ${formatAge(now.find(length => length !== 0) ?? 0)}` : undefined;
}

/** The ages at which local and remote rows expire; 0 if they never do. */
function ttlsOf(definition: Definition | undefined): readonly Age[] {
  if (!definition || !('ttl' in definition)) return [];
  const policy = 'policy' in definition && definition.policy?.disabled !== true ? definition.policy : undefined;
  return [definition.ttl || (policy?.after['DROP LOCAL'] ?? 0), policy?.after['DROP REMOTE'] ?? 0];
}

/** Whether a TTL is at least as long as another, for months of any length. */
function isAtLeast(ttl: Age, than: Age): boolean {
  if (than === 0) return false;
  if (ttl > 0 === than > 0) return Math.abs(ttl) >= Math.abs(than);
  return ttl > 0 ? ttl >= -than * 31 * 24 : -ttl * 28 * 24 >= than;
}

/** A definition with the retention of a former one, so that no row expires; undefined where it is no longer, or a server rejects it. */
export function keepRetention<Stored extends TableDefinition | MaterializedViewDefinition>(
  wanted: Stored,
  former: Stored,
): Stored | undefined {
  const { partitionBy } = wanted;
  if (findExpiredRows(former, wanted) === undefined || partitionBy === undefined) return undefined;
  if (former.ttl !== 0 && !isEvenAge(partitionBy, former.ttl)) return undefined;
  return { ...wanted, ttl: former.ttl, ...(former.kind === 'table' && { policy: former.policy }) };
}
