/*!
 * Rows that are stored although the TTL of their object has expired them. A server drops them when the object is written, refreshed
 * or gets another TTL: only then does it enforce the TTL.
 */
import { displayName, isSameName } from '@sqlpipe/sql';
import type { CatalogueObject, MaterializedView, Table } from './catalogue-objects.js';
import type { Effect } from './effects.js';
import type { Execution } from './engine.js';
import type { Enforcement, Ledger } from './ledger.js';

/** Whether an object has rows that a TTL may expire. Those of live views are not accounted for. */
const isRetained = (object: CatalogueObject | undefined): object is Table | MaterializedView =>
  object?.kind === 'table' || object?.kind === 'materialized view';

/** Finds the objects whose TTL a statement makes the server enforce: it rewrites them, computes them again or sets another TTL. */
export function findEnforcements(
  { effects, changes }: Pick<Execution, 'effects' | 'changes'>,
  ledger: Ledger,
): Enforcement[] {
  const written = effects.filter(({ effect, column }) => effect === 'rewritten' && column === undefined);
  const retained = changes.filter(
    ({ before, after }) => isRetained(after) && after.ttl !== (isRetained(before) ? before.ttl : 0),
  );
  // A shorter TTL is already reported as the loss `ttl`.
  const isShortened = (name: string) => effects.some(({ loss, object }) => loss === 'ttl' && isSameName(object, name));
  const names = new Set([...written.map(({ object }) => object), ...retained.map(({ name }) => name)]);
  return [...names].flatMap(name => {
    const now = ledger.catalogue.find(name);
    const former = now && ledger.formerOf(now);
    const isEnforced = isRetained(former) && isRetained(now) && now.ttl !== 0 && !isShortened(name);
    return isEnforced ? [{ former, now }] : [];
  });
}

/** Records the loss of expired rows. The server counts them once, before the first statement that drops them. @returns the loss */
export function recordEnforcement(enforcement: Enforcement, ledger: Ledger, index: number): Effect[] {
  const { former, now } = enforcement;
  const causes = [...ledger.causesOf(former, index)];
  const known = ledger.enforcements.get(former.id);
  known?.causes.push(...causes);
  if (known) return [];
  // The loss and the enforcement share the list of causes, to which later statements are added.
  ledger.enforcements.set(former.id, { ...enforcement, causes });
  const count = ledger.facts.countExpired(enforcement);
  if (count === 0) return [];
  const rows = count === undefined ? 'may drop rows' : `drops ${count} ${count === 1 ? 'row' : 'rows'}`;
  const text = `${rows} of ${displayName(now)} older than its TTL`;
  const effect: Effect = { effect: 'lost', kind: now.kind, object: now.name, loss: 'ttl', text };
  ledger.losses.add(now.id, { effect, causes });
  return [effect];
}
