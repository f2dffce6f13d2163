/*!
 * Decides which views are valid after a statement. QuestDB does so a moment later, in background jobs (observed on 9.3.4). The engine does
 * so before the statement ends.
 */
import { isDeepStrictEqual } from 'node:util';
import { printDefinition } from '@sqlpipe/ddl';
import { catchRejection, missingError, RejectionError } from '@sqlpipe/ddl/parser';
import type { ChangeOfBaseReason } from '@sqlpipe/schema';
import { foldCase, isSameName, NameSet } from '@sqlpipe/sql';
import { findViewTimestamp, requireWalBase } from '../analyze/analyze-materialized-view.js';
import { analyzeRelation, type Relation } from '../analyze/analyze-relation.js';
import { rejectNonDeterministic } from '../analyze/non-deterministic.js';
import type { Catalogue, MutableCatalogue } from '../catalogue.js';
import {
  areTypesKnown,
  type CatalogueObject,
  isPlainView,
  type LiveView,
  type MaterializedView,
  type StoredColumn,
  toStoredColumn,
  type View,
} from '../catalogue-objects.js';
import { findInvalidReason, OTHER_TYPES_REASON } from '../effects.js';
import { parseQueryText, QuerySyntaxError } from '../parse/parse-query.js';

export function recompilePlainViews(catalogue: MutableCatalogue, changed: readonly string[]): void {
  const names = catalogue.readersOf(changed).flatMap(view => (isPlainView(view) ? [view.name] : []));
  for (const view of catalogue.inDependencyOrder(names).filter(isPlainView)) {
    const compiled = compilePlainView(view, catalogue);
    if (!isDeepStrictEqual(compiled, view)) catalogue.put(compiled);
  }
}

/**
 * Example: a materialized view joins a table, and a column of this table is dropped. A server reports the view as valid until the next row
 * of its base arrives (observed on 9.3.4). The engine assumes this row.
 */
export function invalidateUnrefreshable(catalogue: MutableCatalogue, changed: readonly string[]): void {
  const unrefreshable = catalogue.readersOf(changed).flatMap(view => {
    if (view.kind !== 'materialized view' || view.invalidReason !== undefined) return [];
    const reason = findUnrefreshableReason(view, catalogue);
    return reason === undefined ? [] : [{ ...view, invalidReason: reason, isInvalidEarly: true }];
  });
  for (const view of unrefreshable) {
    catalogue.put(view);
    invalidateMaterializedViews(catalogue, view.name, INVALID_BASE_REASON, { includeEmpty: true, isEarly: true });
  }
}

function compilePlainView({ rejection: _, isUncompiled: __, isStale: ___, ...view }: View, catalogue: Catalogue): View {
  if (view.opaqueStatement !== undefined) {
    // If a query is not understood, only the existence of what it reads can be checked.
    const missing = view.references.find(name => !catalogue.find(name));
    return missing === undefined ? view : { ...view, rejection: toViewRejection(missingError(0, missing)) };
  }
  const relation = analyzeBody(view.body, catalogue);
  if (relation instanceof RejectionError) return { ...view, rejection: toViewRejection(relation) };
  const sources = view.sources && new NameSet(view.sources);
  const isStale = sources !== undefined && catalogue.sources(view.references).some(name => !sources.has(name));
  return { ...view, columns: toColumns(relation), timestamp: relation.timestamp, ...(isStale && { isStale }) };
}

const toViewRejection = ({ message, position }: RejectionError) => ({ reason: message, position });

const analyzeBody = (body: string, catalogue: Catalogue): Relation | RejectionError =>
  catchRejection(() => analyzeRelation(parseQueryText(body), catalogue));

/**
 * Compiles a view that was loaded from its statement. If the query is rejected, the first case that applies decides:
 * 1. A view that the server reports as invalid, or a materialized view without its base, stays uncompiled.
 * 2. If the server's health is unknown and the query can be parsed, a plain view is invalid.
 * 3. Any other view is opaque, because the engine does not understand its query.
 */
export function compileLoaded(object: CatalogueObject, catalogue: Catalogue, isHealthKnown: boolean): CatalogueObject {
  if (object.kind === 'table') return object;
  // A view that reads something missing has sources too. If it reads something else later, the server cannot query it.
  const sources = object.kind === 'view' && { sources: object.sources ?? catalogue.sources(object.references) };
  const { isUncompiled: _, ...view } = { ...object, ...sources };
  if (view.opaqueStatement !== undefined) return view;
  const relation = analyzeBody(view.body, catalogue);
  if (relation instanceof RejectionError) {
    const isBaseMissing = view.kind === 'materialized view' && !catalogue.find(view.base);
    // An interrupted plan may have renamed or changed what the view reads. A later statement may repair that.
    const isBroken = findInvalidReason(view) !== undefined;
    if (isBaseMissing || isBroken) return { ...object, ...sources };
    if (isHealthKnown || relation instanceof QuerySyntaxError || view.kind !== 'view') {
      const opaque = { ...view, opaqueStatement: printDefinition(view, { quoted: true }) };
      return opaque.kind === 'materialized view'
        ? { ...opaque, readableColumns: listReadableColumns(opaque, catalogue) }
        : opaque;
    }
    return { ...view, rejection: toViewRejection(relation) };
  }
  const derived = view.columns.length > 0 ? view.columns : toColumns(relation);
  if (view.kind !== 'materialized view')
    return { ...view, columns: derived, timestamp: view.timestamp ?? relation.timestamp };
  const columns = view.columns.length > 0 ? view.columns : derived.map(each => toStoredColumn(each, view));
  const timestamp = view.timestamp ?? findViewTimestamp(parseQueryText(view.body), relation, catalogue);
  const compiled = { ...view, columns, timestamp };
  if (view.invalidReason !== undefined) return compiled;
  return { ...compiled, readableColumns: listReadableColumns(compiled, catalogue) };
}

/**
 * Makes the materialized views over a base invalid, and the views over these views. An invalid view keeps its first reason, and the views
 * over it are skipped. But if a server still reports it as valid, new views may have been created over it. So they are not skipped.
 * @param includeEmpty whether a view without rows becomes invalid too; the views over it always do (observed on 9.3.4)
 * @param isEarly whether the server still reports the views as valid, see `invalidateUnrefreshable`
 * @param seen the views that were made invalid; in a file, two views may read each other
 */
export function invalidateMaterializedViews(
  catalogue: MutableCatalogue,
  base: string,
  reason: ChangeOfBaseReason,
  { includeEmpty = false, isEarly = false, seen = new NameSet() } = {},
): void {
  for (const view of listViewsWithBase(catalogue, base)) {
    if (seen.has(view.name) || (view.invalidReason !== undefined && !view.isInvalidEarly)) continue;
    seen.add(view.name);
    if (includeEmpty || !view.wasNeverRefreshed)
      catalogue.put({ ...view, invalidReason: view.invalidReason ?? reason, isInvalidEarly: isEarly });
    invalidateMaterializedViews(catalogue, view.name, INVALID_BASE_REASON, { includeEmpty: true, isEarly, seen });
  }
}

/** An IMMEDIATE DEFERRED view starts empty. A server fills it when rows or metadata of its base change (observed on 9.3.4). */
export function recordFilledViews(catalogue: MutableCatalogue, base: string): void {
  for (const view of listViewsWithBase(catalogue, base))
    if (view.wasNeverRefreshed && view.refresh.type === 'IMMEDIATE')
      catalogue.put({ ...view, wasNeverRefreshed: false });
}

const listViewsWithBase = (catalogue: Catalogue, base: string): MaterializedView[] =>
  catalogue
    .directReadersOf(base)
    .filter(view => view.kind === 'materialized view')
    .filter(view => isSameName(view.base, base));

/** Lists the valid materialized views over a base, each with the reason with which it becomes invalid if the base is no WAL table. */
export function findViewsThatNeedWal(
  catalogue: Catalogue,
  base: string,
  reason = 'base table is not WAL table', // observed on 9.3.4; after a refresh, as in `findUnrefreshableReason`
): (readonly [view: MaterializedView, reason: string])[] {
  const views = listViewsWithBase(catalogue, base).filter(({ invalidReason }) => invalidReason === undefined);
  return views.flatMap(view => [[view, reason], ...findViewsThatNeedWal(catalogue, view.name, INVALID_BASE_REASON)]);
}

export function invalidateStoredViews(catalogue: MutableCatalogue, base: string, reason: ChangeOfBaseReason): void {
  invalidateMaterializedViews(catalogue, base, reason);
  invalidateLiveViews(catalogue, base, () => reason);
}

export function invalidateLiveViews(
  catalogue: MutableCatalogue,
  base: string,
  reasonFor: (view: LiveView) => string | undefined,
): void {
  for (const view of catalogue.directReadersOf(base)) {
    if (view.kind !== 'live view' || view.invalidReason !== undefined) continue;
    const reason = reasonFor(view);
    if (reason !== undefined) catalogue.put({ ...view, invalidReason: reason });
  }
}

export function findUnresolvedReason(view: CatalogueObject | undefined, catalogue: Catalogue): string | undefined {
  if (!view || view.kind === 'table' || view.opaqueStatement !== undefined) return undefined;
  const rejection = catchRejection(() => {
    analyzeRelation(parseQueryText(view.body), catalogue);
    if (view.kind === 'materialized view') requireWalBase({ name: view.base, start: 0 }, catalogue);
  });
  return rejection && !(rejection instanceof QuerySyntaxError) ? rejection.message : undefined;
}

export function findUnrefreshableReason(view: MaterializedView, catalogue: Catalogue): string | undefined {
  const base = catalogue.find(view.base);
  if (!base) return `[-105]: ${missingError(0, view.base).message}`; // the number of this error, not a position
  if (base.kind === 'view') return `[0]: cannot get a reader for view [view=${base.name}]`;
  if (base.kind === 'table' && !base.wal) return 'base table is not a WAL table'; // observed on 9.3.4
  if (base.kind === 'materialized view' && base.invalidReason !== undefined) return INVALID_BASE_REASON;
  if (view.opaqueStatement !== undefined) return readsSameColumns(view, catalogue) ? undefined : OTHER_TYPES_REASON;
  const relation = catchRejection(() => {
    const query = parseQueryText(view.body);
    const found = analyzeRelation(query, catalogue);
    rejectNonDeterministic(query, catalogue);
    return found;
  });
  if (relation instanceof RejectionError) return `[${relation.position}]: ${relation.message}`;
  const columns = toColumns(relation);
  const isSame =
    view.columns.length === 0 ||
    (columns.length === view.columns.length &&
      columns.every(({ type }, i) => type === view.columns[i]?.type) &&
      (areTypesKnown([...columns, ...view.columns]) || readsSameColumns(view, catalogue)));
  // With other types, a refresh empties the view and fails, or converts later rows (observed on 9.3.4). So it counts as not refreshable.
  return isSame ? undefined : OTHER_TYPES_REASON;
}

function readsSameColumns(view: MaterializedView, catalogue: Catalogue): boolean {
  const readable = new Set(listReadableColumns(view, catalogue));
  return view.readableColumns?.every(column => readable.has(column)) ?? false;
}

export const toColumns = ({ fields }: Relation): StoredColumn[] =>
  fields.map(({ name, type }) => {
    const column = { name, type: type ?? 'DOUBLE', cached: true, dedup: false };
    return type === undefined ? { ...column, isGuess: true } : column;
  });

/**
 * Lists the columns that a materialized view can read, as texts. If the engine does not know the types of the view, it compares two such
 * lists to find out whether the types may have changed. Undefined if the types are known. A plain view may be dropped and created again,
 * so it is listed by its name. If its types are not known either, its query stands for them.
 */
export function listReadableColumns(
  view: Pick<MaterializedView, 'columns' | 'base' | 'references' | 'opaqueStatement'>,
  catalogue: Catalogue,
): readonly string[] | undefined {
  const isKnown = ({ columns, opaqueStatement }: Pick<MaterializedView, 'columns' | 'opaqueStatement'>) =>
    opaqueStatement === undefined && areTypesKnown(columns);
  if (isKnown(view)) return undefined;
  return [...catalogue.closure(view)].flatMap(read => {
    const object = catalogue.compileAndFind(read);
    if (object?.kind === 'view' && !isKnown(object))
      return `${foldCase(read)} ${object.opaqueStatement ?? object.body}`;
    const key = object?.kind === 'view' ? foldCase(read) : object?.id;
    return object?.columns.map(({ id, name, type }) => `${key} ${id ?? name} ${type}`) ?? [];
  });
}

const INVALID_BASE_REASON = 'base materialized view is invalidated';
