/*! How long rows are kept: TTL, what it becomes in the enterprise edition, and which rows a change of it makes expire. */
import type { Age, Definition, MaterializedViewDefinition, TableDefinition } from '../definition.js';
import { formatAge, isEvenAge, parseAge, rejectUnevenAge } from '../grammar/ages.js';
import type { ClauseSpans } from '../grammar/clause-reader.js';
import { RejectionError } from '../grammar/rejection-error.js';
import { property } from '../property.js';
import { isTtl, policyOf, type WithRetention } from './storage-policy.js';

/** The TTL of an object: from its TTL, or in the enterprise edition from a storage policy that only drops data. */
const localTtl = ({ ttl, policy }: WithRetention): Age =>
  policy && isTtl(policy) ? (policy.after['DROP LOCAL'] ?? 0) : ttl;

export const TTL = property<WithRetention, { readonly action: 'ttl'; readonly ttl: Age }>({
  name: 'TTL',
  value: object => (localTtl(object) === 0 ? 'none' : formatAge(localTtl(object))),
  parse(reader) {
    if (!reader.begins('ttl')) return undefined;
    const { age, position } = parseAge(reader.cursor);
    reader.position = position;
    return { ttl: age };
  },
  check({ ttl = 0, partitionBy }, position) {
    if (partitionBy) rejectUnevenAge(partitionBy, ttl, position);
  },
  print: ({ ttl }) => (ttl === 0 ? '' : ` TTL ${formatAge(ttl)}`),
  feature: { name: 'TTL', word: /ttl/i, isIn: ({ kind, ttl }) => kind === 'table' && ttl !== 0, isDispensable: true },
  translate: ({ kind, ttl }, { isEnterprise }) =>
    isEnterprise && kind === 'table' && ttl !== 0
      ? { clause: `\nSTORAGE POLICY(DROP LOCAL ${formatAge(ttl)})` }
      : undefined,
  alter: {
    actions: ['ttl'],
    sets: ['TTL'],
    expiresRows: true,
    syntax: {
      'set ttl'(cursor, { isEnterprise }, { object: { kind, partitionBy } }) {
        const { age: ttl, position } = parseAge(cursor);
        if (isEnterprise && kind !== 'materialized view' && ttl !== 0)
          throw new RejectionError(position, 'TTL is not supported on Enterprise tables; use a storage policy instead');
        if (partitionBy) rejectUnevenAge(partitionBy, ttl, position);
        return { action: 'ttl', ttl };
      },
    },
    print: ({ ttl }) => `SET TTL ${ttl === 0 ? '0 HOURS' : formatAge(ttl)}`,
    permission: () => 'SET TABLE PARAM',
    find(wanted, now, { isEnterprise }) {
      if (isEnterprise && now.kind === 'table') return undefined;
      const ttl = localTtl(wanted);
      return ttl !== now.ttl && isEvenAge(now.partitionBy ?? 'DAY', ttl) ? { action: 'ttl', ttl } : undefined;
    },
  },
  unalterable: 'with partitions by month or year, a TTL can be changed, but not removed',
});

/** How long a table that is stored keeps its rows: the enterprise edition turns a TTL into a storage policy. */
export const retentionOf = (object: Pick<WithRetention, 'ttl' | 'policy'>, isEnterprise: boolean) =>
  isEnterprise ? { ttl: 0, policy: policyOf(object) } : { ttl: object.ttl, policy: object.policy };

/** Checks a TTL against the partitions that the server has chosen where the statement names none. */
export function rejectUnevenRetention(spans: ClauseSpans, { kind, ttl, partitionBy }: WithRetention): void {
  const position = spans.get(TTL.name)?.position;
  // A length in months is accepted for a materialized view (observed on 9.3.4).
  if (position !== undefined && partitionBy && (kind !== 'materialized view' || ttl > 0))
    rejectUnevenAge(partitionBy, ttl, position);
}

/** What a definition says whose rows never expire. */
export const UNLIMITED = { ttl: 0 } as const;

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
