import { displayName } from '@sqlpipe/sql';
import type { Catalogue } from '../catalogue.js';
import { type Effect, effectOn } from '../effects.js';
import { findViewsThatNeedWal } from './validity.js';

/**
 * What the next restart of the server does to tables that SET TYPE BYPASS WAL has named: it skips what a suspended table has not applied,
 * ends deduplication, and makes the materialized views over the table invalid (observed on 9.3.4).
 */
export function findEffectsOfRestart(catalogue: Catalogue): Effect[] {
  return [...catalogue.bypassed].flatMap(id => {
    const table = catalogue.findById(id);
    if (table?.kind !== 'table') return [];
    const skipped = `skips transactions of ${displayName(table)} that are not applied, ${WHEN}`;
    return [
      ...(table.isSuspended ? [effectOn(table, 'lost', skipped, { lossKind: 'drop' })] : []),
      ...(table.columns.some(({ dedup }) => dedup)
        ? [effectOn(table, 'lost', `switches deduplication off, ${WHEN}`, { lossKind: 'keys' })]
        : []),
      ...findViewsThatNeedWal(catalogue, table.name).map(([view, reason]) =>
        effectOn(view, 'invalidated', `invalidates ${displayName(view)} ${WHEN}: ${reason}`),
      ),
    ];
  });
}

const WHEN = 'after a restart of the server';
