/*! Finds the ALTER statements that turn a materialized view into another one. */
import { type Alteration, compareDefinitions, type MaterializedViewDefinition, type Refresh } from '@sqlpipe/ddl';
import { canSetTtl } from './alter-table.js';

const REFRESH_PROPERTIES = ['refresh', 'refresh start', 'refresh period', 'refresh time zone'];

/**
 * Properties for which a materialized view is not recreated: ALTER or another statement changes them, or nothing does.
 */
const ALTERABLE = new Set([...REFRESH_PROPERTIES, 'TTL', 'owner', 'name']);

/** Whether a materialized view can become the wanted one without being dropped. No ALTER changes DEFERRED. */
export function canAlter(wanted: MaterializedViewDefinition, now: MaterializedViewDefinition): boolean {
  const { differences } = compareDefinitions(wanted, now);
  const isAlterable = (property: string): boolean =>
    ALTERABLE.has(property) && (property !== 'TTL' || canSetTtl(wanted.ttl, now.partitionBy ?? 'DAY'));
  return differences.every(({ property }) => isAlterable(property)) && wanted.refresh.deferred === now.refresh.deferred;
}

/**
 * Tries the alterations that lead to the wanted materialized view.
 * @param current returns the materialized view after the previous alterations
 * @param attempt tries one alteration; `properties` names what differs if it is not made
 */
export function alterMaterializedView(
  wanted: MaterializedViewDefinition,
  current: () => MaterializedViewDefinition,
  attempt: (alteration: Alteration, ...properties: string[]) => boolean,
): void {
  const { differences } = compareDefinitions(wanted, current());
  if (differences.some(({ property }) => REFRESH_PROPERTIES.includes(property))) {
    const { start } = current().refresh;
    const isTimer = wanted.refresh.type === 'EVERY' && !wanted.refresh.period;
    const refresh: Refresh = { ...wanted.refresh, start: wanted.refresh.start ?? (isTimer ? start : undefined) };
    attempt({ change: 'refresh', refresh }, ...REFRESH_PROPERTIES);
  }
  if (wanted.ttl !== current().ttl && canSetTtl(wanted.ttl, current().partitionBy ?? 'DAY'))
    attempt({ change: 'ttl', ttl: wanted.ttl }, 'TTL');
}
