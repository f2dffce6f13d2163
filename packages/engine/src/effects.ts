/*! Finds the effects of a statement on each object, by comparing the object before and after the statement. */
import {
  type Column,
  type Definition,
  formatExpiredRows,
  hasNull,
  isLossless,
  type TableDefinition,
} from '@sqlpipe/ddl';
import { displayName, type Kind, type NamedObject, NameMap } from '@sqlpipe/sql';
import { formatCount } from '@sqlpipe/text';
import { type CatalogueObject, pairColumns, type Table } from './catalogue-objects.js';
import type { Principal } from './principal.js';
import type { Transition } from './transaction-log.js';

/**
 * The kind of a loss. The name of a loss is its kind, a colon and a path: `drop:trades.qty`.
 * - `drop`: an object with its rows, or a column with its values
 * - `drop-user`: a principal
 * - `history`: rows of a materialized view that nothing computes again
 * - `values`: values that a new type cannot hold
 * - `ttl`: rows that expire
 * - `keys`: deduplication by a column
 */
export type LossKind = 'drop' | 'drop-user' | 'history' | 'values' | 'ttl' | 'keys';

/** The losses after which there are fewer rows, or fewer columns. */
export const REMOVING_LOSSES: ReadonlySet<LossKind | undefined> = new Set(['drop', 'ttl', 'history'] as const);

/** What a statement does to an object or a principal. */
export interface Effect {
  /**
   * - `rewritten`: rows, values or an index are written, and the cost grows with the number of rows;
   * - `removed`: a plain view, an index or rights are removed, and a statement can create them again;
   * - `lost`: a loss, with its kind in `loss`;
   * - `invalidated`: a plain view cannot be queried, or a stored view is no longer refreshed;
   * - `repaired`: the view is valid again.
   */
  readonly effect: 'rewritten' | 'removed' | 'lost' | 'invalidated' | 'repaired';
  readonly kind: Kind;
  readonly object: string;
  readonly column?: string;
  readonly loss?: LossKind;
  /** A phrase, such as `rewrites column 'qty'`. */
  readonly text: string;
}

export const effectOn = (
  { kind, name }: NamedObject,
  effect: Effect['effect'],
  text: string,
  details: Pick<Effect, 'column' | 'loss'> = {},
): Effect => ({ effect, kind, object: name, ...details, text });

/** Whether an effect is the full refresh of a materialized view. Nothing else rewrites a materialized view. */
export const isFullRefresh = ({ effect, kind }: Effect): boolean =>
  effect === 'rewritten' && kind === 'materialized view';

/** Several transitions of an object count as one. Views with an unchanged query come last: their effects usually follow from the others. */
export function findEffects(transitions: readonly Transition[]): Effect[] {
  const byName = new NameMap<Transition>();
  for (const transition of transitions) {
    const { before } = byName.get(transition.name) ?? transition;
    byName.set(transition.name, { ...transition, before });
  }
  const all = [...byName.values()];
  const others = all.filter(transition => !keepsQuery(transition));
  return [...others, ...all.filter(keepsQuery)].flatMap(transition => findObjectEffects(transition, all));
}

const keepsQuery = ({ before, after }: Transition): boolean =>
  before !== undefined && after !== undefined && 'body' in before && 'body' in after && before.body === after.body;

function findObjectEffects({ before, after }: Transition, all: readonly Transition[]): Effect[] {
  if (!before) return [];
  if (!after) {
    // After RENAME TABLE, the object exists under another name, with the same id. So no rows are lost.
    if (all.some(other => other.before === undefined && other.after?.id === before.id)) return [];
    return [
      before.kind === 'view' ? effectOn(before, 'removed', `removes ${displayName(before)}`) : objectLoss(before),
    ];
  }
  const effects = before.kind === 'table' && after.kind === 'table' ? findTableEffects(before, after) : [];
  return [...effects, ...findRetentionLosses(before, after), ...findHealthEffects(before, after)];
}

/** The loss of an object. A statement that drops a plain view only has the effect `removed`; a plan counts it as a loss. */
export function objectLoss(object: CatalogueObject): Effect {
  const text = `loses ${displayName(object)}${object.kind === 'view' ? '' : ' and its rows'}`;
  return effectOn(object, 'lost', text, { loss: 'drop' });
}

export function columnLoss(table: TableDefinition, { name, type }: Column, to?: string): Effect {
  if (to === undefined) return effectOn(table, 'lost', `loses column '${name}'`, { column: name, loss: 'drop' });
  const text = `may lose values of column '${name}': ${type} to ${to}`;
  return effectOn(table, 'lost', text, { column: name, loss: 'values' });
}

function findTableEffects(before: Table, after: Table): Effect[] {
  const pairs = pairColumns(before, after);
  return [
    ...pairs.flatMap(({ column, now }) => (now ? [] : columnLoss(after, column))),
    ...pairs.flatMap(({ column, now }) => (now ? findColumnEffects(after, column, now) : [])),
    ...findKeyLosses(before, after, key => pairs.find(({ column }) => column === key)?.now),
  ];
}

function findColumnEffects(table: Table, before: Column, after: Column): Effect[] {
  const { name: column, type } = before;
  const isRetyped = type !== after.type;
  const [hadIndex, hasIndex] = [before.index !== undefined, after.index !== undefined];
  const indexEffect = hasIndex ? 'rewritten' : 'removed';
  const indexText = `${hasIndex ? 'builds' : 'removes'} the index of column '${column}'`;
  return [
    ...(isRetyped ? [effectOn(table, 'rewritten', `rewrites column '${column}'`, { column })] : []),
    ...(isRetyped && !isLossless(type, after.type) ? [columnLoss(table, before, after.type)] : []),
    ...(hadIndex !== hasIndex ? [effectOn(table, indexEffect, indexText, { column })] : []),
  ];
}

/**
 * With fewer dedup keys, a new row can overwrite a row that was distinct. Without any key, the server keeps new duplicates.
 * @param findNow finds the column of `after` that a column of `before` has become
 */
export function findKeyLosses(
  before: TableDefinition,
  after: TableDefinition,
  findNow: (column: Column) => Column | undefined,
): Effect[] {
  const keys = before.columns.filter(({ dedup }) => dedup);
  if (keys.length > 0 && !after.columns.some(({ dedup }) => dedup))
    return [effectOn(after, 'lost', 'switches deduplication off', { loss: 'keys' })];
  const removed = keys.filter(key => !findNow(key)?.dedup);
  return removed.map(({ name }) =>
    effectOn(after, 'lost', `removes dedup key '${name}'`, { column: name, loss: 'keys' }),
  );
}

/**
 * A row that was written before ADD COLUMN stores no value for the column. For BYTE, SHORT and BOOLEAN, a query returns 0 or false, for
 * other types NULL. So 0 becomes NULL if the column gets a type with NULL.
 * @param filled the ids of the columns for which every row stores a value
 */
export function findLossesOfUnwrittenValues(
  { before, after }: Transition,
  filled: ReadonlySet<number | undefined>,
): Effect[] {
  if (before?.kind !== 'table' || after?.kind !== 'table') return [];
  return pairColumns(before, after).flatMap(({ column: { id, type: oldType }, now }) => {
    // A change that is not lossless is reported by `findColumnEffects`.
    if (!now || hasNull(oldType) || !hasNull(now.type) || !isLossless(oldType, now.type) || filled.has(id)) return [];
    const zero = oldType === 'BOOLEAN' ? 'false' : '0';
    const text = `may lose values of column '${now.name}': in rows older than the column, ${zero} becomes NULL`;
    return [effectOn(after, 'lost', text, { column: now.name, loss: 'values' })];
  });
}

export function findRetentionLosses(before: Definition, after: Definition): Effect[] {
  const which = formatExpiredRows(before, after);
  if (which === undefined) return [];
  return [effectOn(after, 'lost', `expires rows of ${displayName(after)} ${which}`, { loss: 'ttl' })];
}

export const isRetentionLoss = ({ loss }: Effect): boolean => loss === 'ttl';

/** Rows that a server drops because they have expired. @param count undefined if the server cannot say */
export function expiredRowsLoss(object: NamedObject, count: number | undefined): Effect {
  const rows = count === undefined ? 'may drop rows' : `drops ${formatCount(count, 'row')}`;
  return effectOn(object, 'lost', `${rows} of ${displayName(object)} older than its TTL`, { loss: 'ttl' });
}

function findHealthEffects(before: CatalogueObject, after: CatalogueObject): Effect[] {
  const [reasonBefore, reason] = [whyInvalid(before), whyInvalid(after)];
  if (reason !== undefined && reasonBefore === undefined)
    return [effectOn(after, 'invalidated', `invalidates ${displayName(after)}: ${reason}`)];
  if (reason === undefined && reasonBefore !== undefined)
    return [effectOn(after, 'repaired', `repairs ${displayName(after)}`)];
  return [];
}

/**
 * A server expands inner views when it stores an outer one. If ALTER VIEW then gives an inner view another source, queries on the outer
 * view fail with a NullPointerException. `views()` still reports the outer view as valid, and COMPILE VIEW does not repair the outer view
 * (observed on 9.3.4).
 */
const STALE_REASON = 'it reads a view whose query has changed; ALTER VIEW with its own query, unchanged, repairs it';

/** Why a materialized view is invalid if its columns have other types than its query returns. Only DROP and CREATE change these types. */
export const OTHER_TYPES_REASON = 'its query gives columns of other types';

/** Why a plain view cannot be queried, or why a stored view is no longer refreshed. Undefined for a valid view, and for any table. */
export function whyInvalid(object: CatalogueObject): string | undefined {
  if (object.kind === 'table') return undefined;
  if (object.kind !== 'view') return object.invalid;
  return object.invalid?.reason ?? (object.isStale ? STALE_REASON : undefined);
}

export const principalLoss = (principal: Principal): Effect =>
  effectOn(principal, 'lost', `loses ${displayName(principal)} with its credentials and rights`, { loss: 'drop-user' });

export function grantRemovals(count: number, object: CatalogueObject, column?: string): Effect[] {
  if (count === 0) return [];
  const what = column === undefined ? displayName(object) : `column '${column}'`;
  const text = `removes ${formatCount(count, 'grant')} on ${what}`;
  return [effectOn(object, 'removed', text, column === undefined ? {} : { column })];
}
