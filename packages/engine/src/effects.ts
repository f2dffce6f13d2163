/*! Finds the effects of a statement on each object, by comparing the object before and after the statement. */
import {
  type Column,
  type Definition,
  formatExpiredRows,
  hasNull,
  isLossless,
  type TableDefinition,
} from '@sqlpipe/ddl';
import { STALE_REASON } from '@sqlpipe/schema';
import { displayName, type Kind, type KindAndName, NameMap } from '@sqlpipe/sql';
import { formatCount } from '@sqlpipe/text';
import { type CatalogueObject, pairColumns, type Table } from './catalogue-objects.js';
import type { Transition } from './transaction-log.js';

/**
 * What is lost. Users refer to a loss by kind and path: `drop:trades.qty` is the loss of column `qty`.
 * - `drop`: an object with its rows, or a column with its values
 * - `drop-user`: a user, a group or a service account
 * - `history`: rows of a materialized view that a refresh would not restore
 * - `values`: values that the new type of a column cannot hold
 * - `ttl`: rows that expire
 * - `keys`: one or all of the dedup keys
 */
export type LossKind = 'drop' | 'drop-user' | 'history' | 'values' | 'ttl' | 'keys';

/** Losses that leave an object with fewer rows or columns. A view that is computed from the object afterwards may lose rows too. */
export const REMOVING_LOSSES: ReadonlySet<LossKind | undefined> = new Set(['drop', 'ttl', 'history'] as const);

/** What a statement does to an object or a principal. */
export interface Effect {
  /**
   * - `rewritten`: rows, values or an index are written, and the cost grows with the number of rows;
   * - `removed`: a plain view, an index or rights are removed, but a statement can create them again;
   * - `lost`: a loss, with its kind in `lossKind`;
   * - `invalidated`: a plain view cannot be queried, a stored view is no longer refreshed, or a table is damaged;
   * - `repaired`: the view is valid again.
   */
  readonly type: 'rewritten' | 'removed' | 'lost' | 'invalidated' | 'repaired';
  readonly kind: Kind;
  readonly object: string;
  readonly column?: string;
  readonly lossKind?: LossKind;
  /** A phrase, such as `rewrites column 'qty'`. */
  readonly text: string;
}

/** An effect on an object or on one of its columns. */
export const effectOn = (
  { kind, name }: KindAndName,
  type: Effect['type'],
  text: string,
  details: Pick<Effect, 'column' | 'lossKind'> = {},
): Effect => ({ type, kind, object: name, ...details, text });

/** A loss of an object, or of one of its columns. */
export const lossOf = (object: KindAndName, lossKind: LossKind, text: string, column?: string): Effect =>
  effectOn(object, 'lost', text, column === undefined ? { lossKind } : { column, lossKind });

/** Only a full refresh rewrites a materialized view. */
export const isFullRefresh = ({ type, kind }: Effect): boolean => type === 'rewritten' && kind === 'materialized view';

/** Counts several transitions of an object as one. Lists views with an unchanged query last, because they follow from other changes. */
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
    // After RENAME TABLE, an object with the same id has another name. So no rows are lost.
    if (all.some(other => other.before === undefined && other.after?.id === before.id)) return [];
    const removal = effectOn(before, 'removed', `removes ${displayName(before)}`);
    return [before.kind === 'view' ? removal : objectLoss(before)];
  }
  const effects = before.kind === 'table' && after.kind === 'table' ? findTableEffects(before, after) : [];
  effects.push(...findExpiryLosses(before, after));
  const [wasValid, reason] = [findInvalidReason(before) === undefined, findInvalidReason(after)];
  if (wasValid && reason !== undefined)
    effects.push(effectOn(after, 'invalidated', `invalidates ${displayName(after)}: ${reason}`));
  if (!wasValid && reason === undefined) effects.push(effectOn(after, 'repaired', `repairs ${displayName(after)}`));
  return effects;
}

/** For a plan, a dropped plain view is a loss too. The statement that drops the view only has the effect `removed`. */
export function objectLoss(object: CatalogueObject): Effect {
  return lossOf(object, 'drop', `loses ${displayName(object)}${object.kind === 'view' ? '' : ' and its rows'}`);
}

export function columnLoss(table: TableDefinition, { name, type }: Column, to?: string): Effect {
  if (to === undefined) return lossOf(table, 'drop', `loses column '${name}'`, name);
  return lossOf(table, 'values', `may lose values of column '${name}': ${type} to ${to}`, name);
}

function findTableEffects(before: Table, after: Table): Effect[] {
  const pairs = pairColumns(before, after);
  return [
    ...pairs.flatMap(({ column, current }) => (current ? [] : columnLoss(after, column))),
    ...pairs.flatMap(({ column, current }) => (current ? findColumnEffects(after, column, current) : [])),
    ...findKeyLosses(before, after, key => pairs.find(({ column }) => column === key)?.current),
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
 * A new row overwrites the row with the same dedup keys. With fewer keys, it can overwrite a row that was distinct before. Without
 * any key, the server keeps duplicates.
 * @param findCurrent finds a column of `before` in `after`, where the column may have another name
 */
export function findKeyLosses(
  before: TableDefinition,
  after: TableDefinition,
  findCurrent: (column: Column) => Column | undefined,
): Effect[] {
  const keys = before.columns.filter(({ dedup }) => dedup);
  if (keys.length > 0 && !after.columns.some(({ dedup }) => dedup))
    return [lossOf(after, 'keys', 'switches deduplication off')];
  const removed = keys.filter(key => !findCurrent(key)?.dedup);
  return removed.map(({ name }) => lossOf(after, 'keys', `removes dedup key '${name}'`, name));
}

/**
 * BYTE, SHORT and BOOLEAN have no NULL. Example: a table with rows gets a new column `n SHORT`, and `n` is then changed to INT. The
 * older rows store no value of `n`. Their `n` was 0 as a SHORT, and is NULL as an INT.
 * @param fullyWrittenColumns the ids of the columns for which every row stores a value
 */
export function findLossesOfUnwrittenValues(
  { before, after }: Transition,
  fullyWrittenColumns: ReadonlySet<number | undefined>,
): Effect[] {
  if (before?.kind !== 'table' || after?.kind !== 'table') return [];
  return pairColumns(before, after).flatMap(({ column: { id, type: oldType }, current }) => {
    if (fullyWrittenColumns.has(id)) return [];
    // `findColumnEffects` reports the changes of type that are not lossless.
    if (!current || hasNull(oldType) || !hasNull(current.type) || !isLossless(oldType, current.type)) return [];
    const zero = oldType === 'BOOLEAN' ? 'false' : '0';
    const text = `may lose values of column '${current.name}': in rows older than the column, ${zero} becomes NULL`;
    return [lossOf(after, 'values', text, current.name)];
  });
}

export function findExpiryLosses(before: Definition, after: Definition): Effect[] {
  const which = formatExpiredRows(before, after);
  return which === undefined ? [] : [lossOf(after, 'ttl', `expires rows of ${displayName(after)} ${which}`)];
}

/** The loss of rows that have expired. @param count undefined if the server could not count these rows */
export function expiredRowsLoss(object: KindAndName, count: number | undefined): Effect {
  const dropped = count === undefined ? 'may drop rows' : `drops ${formatCount(count, 'row')}`;
  return lossOf(object, 'ttl', `${dropped} of ${displayName(object)} older than its TTL`);
}

/** Whether an effect loses rows that expire. */
export const isExpiryLoss = ({ lossKind }: Effect): boolean => lossKind === 'ttl';

/** Only DROP and CREATE change the column types of a materialized view. If its query returns other types, the view is invalid. */
export const OTHER_TYPES_REASON = 'its query gives columns of other types';

/** Why a plain view cannot be queried, or why a stored view is no longer refreshed. Undefined for valid views and tables. */
export function findInvalidReason(object: CatalogueObject): string | undefined {
  if (object.kind === 'table') return undefined;
  if (object.kind !== 'view') return object.invalidReason;
  return object.rejection?.reason ?? (object.isStale ? STALE_REASON : undefined);
}

export function grantRemovals(count: number, object: CatalogueObject, column?: string): Effect[] {
  if (count === 0) return [];
  const what = column === undefined ? displayName(object) : `column '${column}'`;
  const text = `removes ${formatCount(count, 'grant')} on ${what}`;
  return [effectOn(object, 'removed', text, column === undefined ? {} : { column })];
}
