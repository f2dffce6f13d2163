/*! Finds the ALTER statements that turn a materialized view into another one. */
import {
  type Alteration,
  compareDefinitions,
  isEvenTtl,
  type MaterializedViewDefinition,
  type Refresh,
} from '@sqlpipe/ddl';

const REFRESH_PROPERTIES = ['refresh', 'refresh start', 'refresh period', 'refresh time zone'];

/**
 * Properties for which a materialized view is not recreated: ALTER or another statement changes them, or nothing does.
 */
const ALTERABLE = new Set([...REFRESH_PROPERTIES, 'TTL', 'expiry of rows', 'owner', 'name']);

/** Whether a materialized view can become the wanted one without being dropped. No ALTER changes DEFERRED. */
export function canAlter(wanted: MaterializedViewDefinition, now: MaterializedViewDefinition): boolean {
  const { differences } = compareDefinitions(wanted, now);
  const isAlterable = (property: string): boolean =>
    ALTERABLE.has(property) && (property !== 'TTL' || isEvenTtl(now.partitionBy ?? 'DAY', wanted.ttl));
  return differences.every(({ property }) => isAlterable(property)) && wanted.refresh.deferred === now.refresh.deferred;
}

/** The materialized view that is altered. */
export interface ViewTarget {
  /** Returns the view after the previous alterations. */
  current(): MaterializedViewDefinition;
  /** Makes an alteration, if possible. @param properties what differs if it is not made */
  attempt(alteration: Alteration, ...properties: string[]): boolean;
}

/** Alters how a materialized view is refreshed. */
export function alterMaterializedView(wanted: MaterializedViewDefinition, { current, attempt }: ViewTarget): void {
  const { differences } = compareDefinitions(wanted, current());
  if (!differences.some(({ property }) => REFRESH_PROPERTIES.includes(property))) return;
  const { start } = current().refresh;
  const isTimer = wanted.refresh.type === 'EVERY' && !wanted.refresh.period;
  const refresh: Refresh = { ...wanted.refresh, start: wanted.refresh.start ?? (isTimer ? start : undefined) };
  attempt({ change: 'refresh', refresh }, ...REFRESH_PROPERTIES);
}

/** Alters for how long a materialized view keeps its rows. */
export function alterViewTtl(wanted: MaterializedViewDefinition, { current, attempt }: ViewTarget): void {
  if (wanted.ttl !== current().ttl && isEvenTtl(current().partitionBy ?? 'DAY', wanted.ttl))
    attempt({ change: 'ttl', ttl: wanted.ttl }, 'TTL');
  if (wanted.expire !== current().expire) attempt({ change: 'expiry', expire: wanted.expire }, 'expiry of rows');
}
