/*!
 * Drafts what views need after a plan has changed what they read. A plain view gets its query again, a materialized view is refreshed or
 * recreated. Each view comes after the views that it reads.
 */
import { findExpiredRows } from '@sqlpipe/ddl';
import { type MaterializedView, OTHER_TYPES_REASON } from '@sqlpipe/engine';
import type { Entry } from '@sqlpipe/schema';
import { isSameName, type Kind, NameSet } from '@sqlpipe/sql';
import type { PlanContext } from '../plan-context.js';
import { isRedefined } from '../proof/future-query.js';
import type { Draft } from './draft.js';
import {
  findCreation,
  findStoredViewsAndReaders,
  listObjects,
  printDrop,
  reconcileObject,
} from './reconcile-objects.js';
import { isMarked, isUnfilled } from './unfilled-marks.js';

/**
 * Matches the reason of an invalid view whose query failed on a row. The reason begins with `[-1]` in place of a position, or with
 * `inconvertible value` (observed on 9.3.4).
 */
const FAILED_ON_A_ROW = /^(?:\[-1\]: |inconvertible value: )/;

/**
 * Reconciles stored views and what reads from them. Each view is repaired before what reads from it is created:
 * - A stale plain view gets its query again (see `View.isStale`). Until then, the server rejects every query on it.
 * - A materialized view is refreshed if it is invalid, unless its query would fail again.
 * - A materialized view is refreshed if it lacks rows, unless the server fills it by itself before its sources lose rows.
 */
export function reconcileStoredViews(draft: Draft): void {
  const { context, engine } = draft;
  const { a, ignore } = context;
  const reconciledLast = findStoredViewsAndReaders(context);
  const extra = engine.catalogue.inDependencyOrder().flatMap(({ name }) => (a.findObject(name) ? [] : name));
  const sources = findViewSources(extra, context);
  const refreshed = new NameSet();
  const repair = (name: string): void => {
    const now = engine.find(name);
    if (!now || ignore.ignoresObject(now)) return;
    if (now.kind === 'view' && now.isStale) draft.alter(now.kind, now.name, { action: 'query', body: now.body }, []);
    if (now.kind !== 'materialized view' || isOutOfScope(now, refreshed, draft)) return;
    const planMustFill = mustPlanFill(now, sources, draft);
    if (!isRepairable(now, draft) && !(planMustFill && lacksRows(now, sources, draft))) return;
    refreshView(now, planMustFill, draft);
    refreshed.add(name);
  };
  for (const entry of listObjects(a)) {
    if (reconciledLast.has(entry)) reconcileObject(entry, draft);
    repair(entry.name);
  }
  for (const name of extra) repair(name);
}

/** The tables and materialized views that materialized views read, also through plain views. */
interface ViewSources {
  readonly ofAll: NameSet;
  /** The sources of the views that may have rows in B. */
  readonly ofFilled: NameSet;
  /** What must be filled before other views, see `findNeededByUnfilled`. */
  readonly ofUnfilled: NameSet;
}

/** @param extra the names of what only B has */
function findViewSources(extra: readonly string[], context: PlanContext): ViewSources {
  const { a, b } = context;
  const views = [...a.entries, ...extra.flatMap(name => b.findObject(name) ?? [])].filter(
    ({ kind }) => kind === 'materialized view',
  );
  const sourcesOf = (entries: readonly Entry[]) =>
    new NameSet(entries.flatMap(entry => findStoredSources(entry, context)));
  return {
    ofAll: sourcesOf(views),
    ofFilled: sourcesOf(views.filter(view => mayHaveRowsInB(view, context))),
    ofUnfilled: findNeededByUnfilled(context),
  };
}

const isRepairable = (view: MaterializedView, draft: Draft): boolean =>
  view.invalid !== undefined && (!FAILED_ON_A_ROW.test(view.invalid) || readsRetypedColumn(view, draft));

/** Whether REFRESH must fill a view, even if the server fills it: other views read its rows, or its sources lose rows later. */
const mustPlanFill = (view: MaterializedView, { ofAll }: ViewSources, draft: Draft): boolean =>
  !isFilledByServer(view) || ofAll.has(view.name) || willSourcesLoseRows(view, draft);

/** Whether a view must have rows and has none: the plan creates it, the server is filling it, or an interrupted plan has left it so. */
function lacksRows(view: MaterializedView, { ofFilled, ofUnfilled }: ViewSources, draft: Draft): boolean {
  const { name } = view;
  const { context } = draft;
  const { engineOfB } = context;
  // An interrupted plan may have dropped the view. Its mark, or a view over it that still has rows, shows that it had rows.
  const hadRows = isMarked(name, context) || mayHaveRowsInB(view, context) || ofFilled.has(name);
  const mustHaveRows = hadRows || (ofUnfilled.has(name) && readsTableOfB(view, draft));
  const isBeingFilled = isFilledByServer(view) && engineOfB.wasNeverRefreshed(name);
  const isInB = engineOfB.catalogue.findById(view.id) !== undefined;
  return mustHaveRows && (!isInB || isBeingFilled || isUnfilled(name, context));
}

/** Whether the server fills a new view by itself, in the background, without REFRESH. */
const isFilledByServer = ({ refresh }: Pick<MaterializedView, 'refresh'>): boolean =>
  refresh.type === 'IMMEDIATE' && !refresh.deferred;

/** The names of the tables and materialized views that a view reads, also through plain views. */
const findStoredSources = (entry: Entry, context: PlanContext): string[] =>
  (context.a.findObject(entry.name) ? context.a : context.b)
    .prerequisites(entry)
    .flatMap(each => (each.kind === 'view' ? findStoredSources(each, context) : [each.name]));

/**
 * Finds what must be filled before views are created or refreshed that B lacks, or that an interrupted plan has marked: a view is filled
 * once, from the rows that its sources have then. A view that the server fills also follows its base.
 */
function findNeededByUnfilled(context: PlanContext): NameSet {
  const { a, engineOfB } = context;
  const needed = new NameSet();
  for (const entry of listObjects(a).reverse()) {
    const definition = a.definitionOf(entry);
    const isKnown = engineOfB.find(entry.name)?.kind === entry.kind && !isMarked(entry.name, context);
    if (definition?.kind !== 'materialized view' || isKnown) continue;
    const followed = isFilledByServer(definition) && !needed.has(entry.name) ? definition.base : undefined;
    for (const source of findStoredSources(entry, context))
      if (followed === undefined || !isSameName(source, followed)) needed.add(source);
  }
  return needed;
}

/** Whether a view reads a table that B has too, also through other views. All other tables are empty. */
const readsTableOfB = (view: MaterializedView, draft: Draft): boolean =>
  draft.engine.catalogue.sources([view.base, ...view.references]).some(name => {
    const source = draft.engine.find(name);
    return source?.kind === 'materialized view'
      ? readsTableOfB(source, draft)
      : draft.context.engineOfB.find(draft.context.renames.nameBeforePlan(name)) !== undefined;
  });

/**
 * Whether the plan need not care about a view:
 * - A lacks it, and the plan drops it later;
 * - A lacks it, it was invalid before, the plan refreshes none of its sources, and no interrupted plan has made it invalid.
 * @param refreshed the views that the plan refreshes; the same cause may have made one of them and this view invalid
 */
function isOutOfScope(view: MaterializedView, refreshed: NameSet, draft: Draft): boolean {
  const { a, keepExtra, allowed, healthProblems } = draft.context;
  if (a.findObject(view.name)) return false;
  const readsRefreshed = [view.base, ...view.references].some(each => refreshed.has(each));
  if (wasInvalid(view, healthProblems) && !readsRefreshed && !mayBeInvalidatedByPlan(view, draft)) return true;
  return !keepExtra && allowed.allows({ loss: 'drop', object: view.name });
}

/**
 * Whether to refresh an invalid view that only B has, because an interrupted plan may have made it invalid. Nothing shows for certain
 * that a plan did. So the view is refreshed only if its base is there, and if the refresh loses no rows, or this loss is allowed.
 */
function mayBeInvalidatedByPlan(view: MaterializedView, draft: Draft): boolean {
  const { engine, context } = draft;
  const source = engine.find(view.base);
  const isRefreshable = source !== undefined && !context.ignore.ignoresObject(source);
  const mayLose = context.allowed.allows({ loss: 'history', object: view.name });
  return (
    isRefreshable && (mayLose || losesNothingByRefresh(view.name, context)) && !draft.excludes(printRefresh(view), view)
  );
}

const printRefresh = ({ name }: MaterializedView): string => `REFRESH MATERIALIZED VIEW '${name}' FULL;`;

/** Whether the query of a view of B returns all rows that the view stores. */
export function losesNothingByRefresh(view: string, { findStoredRows }: Pick<PlanContext, 'findStoredRows'>): boolean {
  const answer = findStoredRows(view);
  return answer === 'none' || answer === 'recomputable';
}

const wasInvalid = ({ name }: MaterializedView, healthProblems: PlanContext['healthProblems']): boolean =>
  healthProblems.some(({ identity, state }) => state === 'invalid' && isSameName(identity.name, name));

/** Whether sources of a view lose rows later in the plan. The server fills the view in the background, perhaps too late to read them. */
function willSourcesLoseRows(view: MaterializedView, draft: Draft): boolean {
  const { a, keepExtra } = draft.context;
  return draft.engine.catalogue.sources([view.base, ...view.references]).some(name => {
    const wanted = a.definitionOf(name);
    return wanted
      ? findExpiredRows(draft.engine.definitionOf(name), wanted) !== undefined
      : !keepExtra && !a.findObject(name);
  });
}

function readsRetypedColumn({ base, references }: MaterializedView, { engine, context: { engineOfB } }: Draft) {
  return [...engine.catalogue.closure([base, ...references])].some(name => {
    const now = engine.find(name);
    const former = engineOfB.catalogue.findById(now?.id);
    const types = new Map(former?.kind === 'table' ? former.columns.map(({ id, type }) => [id, type]) : []);
    return now?.kind === 'table' && now.columns.some(({ id, type }) => types.has(id) && types.get(id) !== type);
  });
}

/** Whether the view may have rows in B, also under its former name. */
const mayHaveRowsInB = (
  { kind, name }: Pick<Entry, 'kind' | 'name'>,
  { b, findStoredRows, renames }: PlanContext,
): boolean =>
  [name, renames.otherName(name) ?? name].some(
    candidate => b.findObject(candidate)?.kind === kind && findStoredRows(candidate) !== 'none',
  );

/**
 * Refreshes a view. It is recreated instead in two cases:
 * - Its query returns other types than its columns have: a refresh would empty it and then fail (observed on 9.3.4).
 * - A plain view that it reads gets another query: if the plan stopped before the refresh, the rows of the old query would seem to be
 *   history.
 *
 * If the view would stay invalid for another reason, nothing is done. A view that A lacks is not recreated: an interruption would lose its
 * definition.
 * @param planMustFill whether a recreated view is refreshed even if the server fills it
 */
function refreshView(view: MaterializedView, planMustFill: boolean, draft: Draft): void {
  const { a, healthProblems } = draft.context;
  const refresh = printRefresh(view);
  const properties = wasInvalid(view, healthProblems) ? (['invalid'] as const) : [];
  // The proof excluded this refresh because of a loss. The recreation is already listed for that loss.
  if (draft.excludes(refresh, view) && draft.hasOmission(view, 'invalid')) return;
  const reason = draft.preview(refresh).get(view.name);
  const wanted = a.findObject(view.name);
  const isOutdated = reason === undefined && wanted?.kind === view.kind && readsRedefinedView(view, draft);
  // An excluded refresh is not added, but listed: the user needs the names of all losses.
  if ((reason === undefined && !isOutdated) || draft.excludes(refresh, view))
    draft.addStatement(refresh, view, properties);
  if ((reason !== OTHER_TYPES_REASON && !isOutdated) || wanted?.kind !== view.kind) return;
  const { definition, statement } = findCreation(wanted, draft.engine.definitionOf(view.name), draft.context);
  const why = isOutdated ? 'a view that it reads gets another query' : 'its columns get other types';
  draft.add({ identity: view, properties, what: `DROP and CREATE, because ${why}` }, [
    printDrop(view),
    statement,
    ...(!planMustFill && definition?.kind === 'materialized view' && isFilledByServer(definition) ? [] : [refresh]),
  ]);
}

const readsRedefinedView = ({ id, base, references }: MaterializedView, { engine, context }: Draft): boolean =>
  context.engineOfB.catalogue.findById(id) !== undefined &&
  [...engine.catalogue.closure([base, ...references])].some(name => {
    const [former, now] = [context.engineOfB.find(context.renames.nameBeforePlan(name)), engine.find(name)];
    return former?.kind === 'view' && now?.kind === 'view' && isRedefined(former, now, context);
  });

export function listUnrepaired(draft: Draft): void {
  const { healthProblems, a, ignore } = draft.context;
  for (const { identity, state, reason } of healthProblems) {
    const { kind, name } = identity;
    const now = draft.engine.find(name);
    const isWanted = now?.kind === kind && a.findObject(name)?.kind === kind;
    if (!isWanted || ignore.ignoresObject(identity)) continue;
    const change = { identity, properties: [state] };
    if (state === 'suspended')
      draft.omit(
        { ...change, what: `ALTER TABLE '${name}' RESUME WAL` },
        `send it when the cause is removed: ${reason}`,
      );
    else if ('invalid' in now && now.invalid !== undefined && !draft.hasOmission(identity))
      draft.omit({ ...change, what: 'a repair' }, `${whyUnrepaired(kind, reason)}: ${reason}`);
  }
}

function whyUnrepaired(kind: Kind, reason: string): string {
  if (kind === 'live view') return 'only DROP and CREATE make it valid, and its rows are lost';
  if (kind === 'view') return 'its query fails';
  return FAILED_ON_A_ROW.test(reason)
    ? 'its query would fail again on the same rows'
    : 'what it reads stays invalid, and a refresh of the view does not change that';
}
