/*!
 * Rows that are stored although the TTL of their object has expired them. A server drops them when the object is written, refreshed
 * or gets another TTL: only then does it enforce the TTL.
 */
import type { CatalogueObject, MaterializedView, Table } from './catalogue-objects.js';
import { type Effect, titleOf } from './effects.js';

/** An object whose TTL a statement makes the server enforce: in the loaded schema, and after the statement. */
export interface Enforcement {
  readonly former: Table | MaterializedView;
  readonly now: Table | MaterializedView;
}

/** The TTL of an object; 0 if it has none. */
export const ttlOf = (object: CatalogueObject | undefined): number => (object && 'ttl' in object ? object.ttl : 0);

/** Whether an object may have a TTL that this account judges. */
export const isRetained = (object: CatalogueObject): object is Table | MaterializedView =>
  object.kind === 'table' || object.kind === 'materialized view';

/** The loss of expired rows. @param count their number; undefined if the server cannot say */
export function expiredLoss(object: CatalogueObject, count: number | undefined): Effect {
  const rows = count === undefined ? 'may drop rows' : `drops ${count} ${count === 1 ? 'row' : 'rows'}`;
  const text = `${rows} of ${titleOf(object)} that its TTL has expired`;
  return { effect: 'lost', kind: object.kind, object: object.name, loss: 'ttl', text };
}
