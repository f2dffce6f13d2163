/*!
 * Drafts what views need after a plan has changed what they read. A plain view gets its query again, a materialized view is refreshed or
 * recreated. Each view comes after the views that it reads.
 */
import { findExpiredRows } from '@sqlpipe/ddl';
import { type MaterializedView, OTHER_TYPES_REASON } from '@sqlpipe/engine';
import { foldCase, isSameName, type Kind } from '@sqlpipe/sql';
import type { PlanContext } from '../plan-context.js';
import type { Draft } from './draft.js';
import { findCreation, printDrop } from './object-changes.js';
import { isUnfilled, markOf } from './unfilled-marks.js';

/** Sends the queries of stale views again (see `View.isStale`). Until then, the server rejects every query on these views. */
export function resendViewQueries(draft: Draft): void {
  for (const { name } of draft.engine.catalogue.inDependencyOrder()) {
    const view = draft.engine.find(name);
    if (view?.kind === 'view' && view.isStale && !draft.context.ignore.ignoresObject(view))
      draft.alter('view', name, { action: 'query', body: view.body }, []);
  }
}

/** The names that materialized views refer to, in lower case. */
const namesReadBy = (...views: readonly MaterializedView[]): Set<string> =>
  new Set(views.flatMap(({ base, references }) => [base, ...references]).map(foldCase));

/**
 * Matches the reason of an invalid view whose query failed on a row. The reason begins with `[-1]` in place of a position, or with
 * `inconvertible value` (observed on 9.3.4).
 */
const FAILED_ON_A_ROW = /^(?:\[-1\]: |inconvertible value: )/;

/**
 * Refreshes materialized views:
 * - those that are invalid, unless their query would fail again;
 * - those that lack rows, unless the server fills them by itself before their sources lose rows.
 */
export function refreshViews(draft: Draft): void {
  const { a, engineOfB } = draft.context;
  const views = draft.engine.catalogue.inDependencyOrder().filter(object => object.kind === 'materialized view');
  const viewsWithRowsInB = views.filter(view => mayHaveRowsInB(view, draft.context));
  const [readByViews, readByViewsWithRows] = [namesReadBy(...views), namesReadBy(...viewsWithRowsInB)];
  const refreshed = new Set<string>();
  for (const view of views) {
    const name = foldCase(view.name);
    const now = draft.engine.find(name);
    if (now?.kind !== 'materialized view') continue;
    const readsRefreshed = [...namesReadBy(now)].some(each => refreshed.has(each));
    if (isOutOfScope(now, readsRefreshed, draft)) continue;
    // An interrupted plan may have dropped the view. Its mark, or a view over it that still has rows, shows that it had rows.
    const isMarked = a.findObject(name) !== undefined && engineOfB.find(markOf(view.name)) !== undefined;
    const mayHaveHadRowsBefore = isMarked || viewsWithRowsInB.includes(view) || readByViewsWithRows.has(name);
    const isCreated = engineOfB.catalogue.findById(now.id) === undefined;
    const lacksRows = mayHaveHadRowsBefore && (isCreated || isUnfilled(name, draft.context));
    // Even a view that the server fills is refreshed if another view is computed from its rows, or if its sources lose rows later.
    const planMustFill = !isFilledByServer(now) || readByViews.has(name) || willSourcesLoseRows(now, draft);
    const wouldFail = FAILED_ON_A_ROW.test(now.invalid ?? '') && !readsRetypedColumn(now, draft);
    const isRepairable = now.invalid !== undefined && !wouldFail;
    if (!isRepairable && !(lacksRows && planMustFill)) continue;
    refreshView(now, planMustFill, draft);
    refreshed.add(name);
  }
}

/** Whether the server fills a new view by itself, in the background, without REFRESH. */
const isFilledByServer = ({ refresh }: Pick<MaterializedView, 'refresh'>): boolean =>
  refresh.type === 'IMMEDIATE' && !refresh.deferred;

/**
 * Whether the plan need not care about a view:
 * - it is ignored;
 * - A lacks it, and the plan drops it later;
 * - A lacks it, it was invalid before, the plan refreshes none of its sources, and no interrupted plan has made it invalid.
 * @param readsRefreshed whether the plan refreshes a source of the view; the same cause may have made both invalid
 */
function isOutOfScope(view: MaterializedView, readsRefreshed: boolean, draft: Draft): boolean {
  const { a, keepExtra, ignore, allowed, healthProblems } = draft.context;
  if (ignore.ignoresObject(view)) return true;
  if (a.findObject(view.name)) return false;
  if (wasInvalid(view, healthProblems) && !readsRefreshed && !mayBeInvalidatedByPlan(view, draft)) return true;
  return !keepExtra && allowed.allows({ loss: 'drop', object: view.name });
}

/**
 * Whether to refresh an invalid view that only B has, because an interrupted plan may have made it invalid. Nothing shows for certain
 * that a plan did. So the view is refreshed only if its base is there, and if the refresh loses no rows.
 */
function mayBeInvalidatedByPlan({ kind, name, base }: MaterializedView, { excluded, engine, context }: Draft): boolean {
  const source = engine.find(base);
  // Only an excluded refresh counts. It has the property `invalid`; an excluded DROP has none.
  const isExcluded = [...excluded.values()].some(
    ({ identity, properties: [property] }) =>
      identity.kind === kind && identity.name === name && property === 'invalid',
  );
  return (
    source !== undefined && !context.ignore.ignoresObject(source) && losesNothingByRefresh(name, context) && !isExcluded
  );
}

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

/** Whether the plan changes the type of a column that a view may read. */
function readsRetypedColumn(
  { base, references }: MaterializedView,
  { engine, context: { engineOfB } }: Draft,
): boolean {
  return [...engine.catalogue.closure([base, ...references])].some(name => {
    const now = engine.find(name);
    const former = engineOfB.catalogue.findById(now?.id);
    const types = new Map(former?.kind === 'table' ? former.columns.map(({ id, type }) => [id, type]) : []);
    return now?.kind === 'table' && now.columns.some(({ id, type }) => types.has(id) && types.get(id) !== type);
  });
}

/** Whether the view may have rows in B, also under its former name. */
const mayHaveRowsInB = ({ kind, name }: MaterializedView, { b, findStoredRows, renames }: PlanContext): boolean =>
  [name, renames.otherName(name) ?? name].some(
    candidate => b.findObject(candidate)?.kind === kind && findStoredRows(candidate) !== 'none',
  );

/**
 * Refreshes a view. If its query returns other types than its columns have, the view is recreated: a refresh would empty it and then fail
 * (observed on 9.3.4). If the view would stay invalid for another reason, nothing is done. A view that A lacks is not recreated: an
 * interruption would lose its definition.
 * @param planMustFill whether a recreated view is refreshed even if the server fills it
 */
function refreshView(view: MaterializedView, planMustFill: boolean, draft: Draft): void {
  const { a, healthProblems } = draft.context;
  const refresh = `REFRESH MATERIALIZED VIEW '${view.name}' FULL;`;
  const properties = wasInvalid(view, healthProblems) ? (['invalid'] as const) : [];
  // The proof excluded this refresh because of a loss. The recreation is already listed for that loss.
  if (draft.excludes(refresh, view) && draft.hasOmission(view, 'invalid')) return;
  const reason = draft.preview(refresh).get(foldCase(view.name));
  // An excluded refresh is not added, but listed: the user needs the names of all losses.
  if (reason === undefined || draft.excludes(refresh, view)) draft.addStatement(refresh, view, properties);
  const wanted = a.findObject(view.name);
  if (reason !== OTHER_TYPES_REASON || wanted?.kind !== view.kind) return;
  const { definition, statement } = findCreation(wanted, draft.engine.definitionOf(view.name), draft.context);
  const what = 'DROP and CREATE, because its columns get other types';
  draft.add({ identity: view, properties, what }, [
    printDrop(view),
    statement,
    ...(!planMustFill && definition?.kind === 'materialized view' && isFilledByServer(definition) ? [] : [refresh]),
  ]);
}

/** Lists objects that are invalid or suspended in B and stay so, with what the user can do. */
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

/** Why a plan does not repair an invalid view. @param reason why it is invalid */
function whyUnrepaired(kind: Kind, reason: string): string {
  if (kind === 'live view') return 'only DROP and CREATE make it valid, and its rows are lost';
  if (kind === 'view') return 'its query fails';
  return FAILED_ON_A_ROW.test(reason)
    ? 'its query would fail again on the same rows'
    : 'what it reads stays invalid, and a refresh of the view does not change that';
}
