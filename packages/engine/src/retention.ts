/*! How long a table or a materialized view keeps its rows. */
import type { Definition, Ttl } from '@sqlpipe/ddl';

/** How long rows are kept: the first of the lengths that is set; 0 if they never expire. */
export const retainedFor = (definition: Definition): Ttl => ttlsOf(definition).find(ttl => ttl !== 0) ?? 0;

/** Which rows of a materialized view expire whatever their age; undefined if none do. */
export const expiryOf = (definition: Definition | undefined): string | undefined =>
  definition?.kind === 'materialized view' ? definition.expire : undefined;

/** Whether rows can expire after a change that did not expire before. */
export function isShorterRetention(after: Definition | undefined, before: Definition | undefined): boolean {
  const rule = expiryOf(after);
  if (rule !== undefined && rule !== expiryOf(before)) return true;
  const [now, then] = [ttlsOf(after), ttlsOf(before)];
  return now.some((length, i) => length !== 0 && length !== then[i] && !isAtLeast(length, then[i] ?? 0));
}

function ttlsOf(definition: Definition | undefined): readonly Ttl[] {
  if (definition?.kind === 'materialized view' || definition?.kind === 'live view') return [definition.ttl];
  if (definition?.kind !== 'table') return [];
  const { ttl, policy } = definition;
  const after = policy && !policy.disabled ? policy.after : {};
  // The enterprise edition turns a TTL into DROP LOCAL.
  return [ttl || (after['DROP LOCAL'] ?? 0), after['DROP REMOTE'] ?? 0];
}

/**
 * Whether a TTL is at least as long as another, for months of any length. Hours are positive, months negative; 0 never
 * expires.
 */
function isAtLeast(ttl: Ttl, than: Ttl): boolean {
  if (than === 0) return false;
  if (ttl > 0 === than > 0) return Math.abs(ttl) >= Math.abs(than);
  return ttl > 0 ? ttl >= -than * 31 * 24 : -ttl * 28 * 24 >= than;
}
