/*!
 * Drafts what views need if a plan changes what they read: a view is restated, a materialized view is refreshed or recreated. Each
 * comes after the views that it reads.
 */
import { findExpiredRows } from '@sqlpipe/ddl';
import { type MaterializedView, OTHER_TYPES } from '@sqlpipe/engine';
import { foldCase, isSameName, kindKeywords } from '@sqlpipe/sql';
import type { Draft } from './draft.js';
import { findCreation } from './object-changes.js';
import type { Task } from './task.js';
import { isUnfilled, markOf } from './unfilled-marks.js';

/** Restates the queries of views that read other objects than before. Until then, the server rejects every query on these views. */
export function restateViews({ ignore }: Task, draft: Draft): void {
  for (const { name } of draft.engine.catalogue.inDependencyOrder()) {
    const view = draft.engine.find(name);
    if (view?.kind === 'view' && view.isStale && !ignore.ignoresObject(view))
      draft.alter('view', name, { action: 'query', body: view.body }, []);
  }
}

/** What materialized views read directly, in lower case. */
const readBy = (...views: readonly MaterializedView[]): Set<string> =>
  new Set(views.flatMap(({ base, references }) => [base, ...references]).map(foldCase));

/**
 * Refreshes the materialized views that are invalid, unless their query would fail again, and those that lack rows, unless the server
 * fills them in time. If their columns have other types, they are recreated.
 */
export function refreshViews(task: Task, draft: Draft): void {
  const { a, before } = task;
  const views = draft.engine.catalogue.inDependencyOrder().filter(object => object.kind === 'materialized view');
  const filled = views.filter(view => hadRows(view, task));
  const [readByViews, readByFilled] = [readBy(...views), readBy(...filled)];
  const refreshed = new Set<string>();
  for (const view of views) {
    const name = foldCase(view.name);
    const now = draft.engine.find(name);
    if (now?.kind !== 'materialized view') continue;
    const readsRefreshed = [...readBy(now)].some(each => refreshed.has(each));
    if (isLeftAlone(now, readsRefreshed, task, draft)) continue;
    // An interrupted plan may have dropped the view. It had rows if it has a mark, or if a view that reads it has rows.
    const isMarked = a.findObject(name) !== undefined && before.find(markOf(view.name)) !== undefined;
    const hadRowsInB = isMarked || filled.includes(view) || readByFilled.has(name);
    const isCreated = before.catalogue.findById(now.id) === undefined;
    const lacksRows = hadRowsInB && (isCreated || isUnfilled(name, task));
    const needsRefresh = !fillsItself(now) || readByViews.has(name) || willSourcesLoseRows(now, task, draft);
    const wouldFail = FAILED_WHILE_RUNNING.test(now.invalid ?? '') && !readsRetypedColumn(now, task, draft);
    const isInvalid = now.invalid !== undefined && !wouldFail;
    if (!isInvalid && !(lacksRows && needsRefresh)) continue;
    refreshView(now, task, draft);
    refreshed.add(name);
  }
}

/** Whether a server fills a view as soon as it is created. */
const fillsItself = ({ refresh }: Pick<MaterializedView, 'refresh'>): boolean =>
  refresh.type === 'IMMEDIATE' && !refresh.deferred;

/**
 * Whether the plan does not touch a view: it is ignored, it will be dropped, or A lacks it, it was invalid before, and a refresh would not
 * repair it.
 * @param readsRefreshed whether the plan refreshes what it reads: then it is refreshed too, because one cause may have made both invalid
 */
function isLeftAlone(view: MaterializedView, readsRefreshed: boolean, task: Task, draft: Draft): boolean {
  const { a, keepExtra, ignore, allowed, problems } = task;
  if (ignore.ignoresObject(view)) return true;
  if (a.findObject(view.name)) return false;
  if (wasInvalid(view, problems) && !readsRefreshed && !isRepairable(view, task, draft)) return true;
  return !keepExtra && allowed.allows({ loss: 'drop', object: view.name });
}

/**
 * Whether a refresh repairs a view that A lacks: its base is in A, and its query returns all of its rows. An interrupted plan may have
 * made it invalid.
 */
function isRepairable(
  { kind, name }: MaterializedView,
  { a, before, historyOf, ignore }: Task,
  { excluded }: Draft,
): boolean {
  const view = before.find(name);
  const base = view?.kind === 'materialized view' ? a.findObject(view.base) : undefined;
  // Not its DROP, which needs a permission.
  const isExcluded = [...excluded.values()].some(
    ({ identity, properties: [property] }) =>
      identity.kind === kind && identity.name === name && property === 'invalid',
  );
  return base !== undefined && !ignore.ignoresObject(base) && historyOf(name) === 'complete' && !isExcluded;
}

/** Whether a view of B is invalid before the plan. */
const wasInvalid = ({ name }: MaterializedView, problems: Task['problems']): boolean =>
  problems.some(({ identity, state }) => state === 'invalid' && isSameName(identity.name, name));

/** Whether the sources of a view lose rows later in the plan. The server fills a view in the background, perhaps too late. */
function willSourcesLoseRows(view: MaterializedView, { a, keepExtra }: Task, draft: Draft): boolean {
  return draft.engine.catalogue.sources([view.base, ...view.references]).some(name => {
    const wanted = a.definitionOf(name);
    return wanted
      ? findExpiredRows(wanted, draft.engine.definitionOf(name)) !== undefined
      : !keepExtra && !a.findObject(name);
  });
}

/** Matches the reason of a view whose query failed on a row: it has no position in the query (observed on 9.3.4). */
const FAILED_WHILE_RUNNING = /^(?:\[-1\]: |inconvertible value: )/;

/** Whether a column that a view may read gets another type. */
function readsRetypedColumn({ base, references }: MaterializedView, { before }: Task, { engine }: Draft): boolean {
  return [...engine.catalogue.closure([base, ...references])].some(name => {
    const now = engine.find(name);
    const former = before.catalogue.findById(now?.id);
    const types = new Map(former?.kind === 'table' ? former.columns.map(({ id, type }) => [id, type]) : []);
    return now?.kind === 'table' && now.columns.some(({ id, type }) => types.has(id) && types.get(id) !== type);
  });
}

/** Whether B has the view with rows, also under its former name. */
const hadRows = ({ kind, name }: MaterializedView, { b, historyOf, renames }: Task): boolean =>
  [name, renames.otherName(name) ?? name].some(
    candidate => b.findObject(candidate)?.kind === kind && historyOf(candidate) !== 'empty',
  );

/**
 * Refreshes a view. If its query returns other types than its columns have, it is recreated: a refresh would empty it and then fail
 * (observed on 9.3.4). If its query is not valid, it is left alone.
 */
function refreshView(view: MaterializedView, task: Task, draft: Draft): void {
  const { a, problems } = task;
  const refresh = `REFRESH MATERIALIZED VIEW '${view.name}' FULL;`;
  const properties = wasInvalid(view, problems) ? ['invalid'] : [];
  // Already listed: recreating it was left out for the same loss.
  if (draft.excludes(refresh, view) && draft.lists(view, 'invalid')) return;
  const reason = draft.preview(refresh).get(foldCase(view.name));
  // If its refresh was excluded together with that of its base, it is listed too: the user needs the names of all losses.
  if (reason === undefined || draft.excludes(refresh, view)) draft.addStatement(refresh, view, properties);
  if (reason !== OTHER_TYPES) return;
  const drop = `DROP ${kindKeywords(view.kind)} '${view.name}';`;
  const wanted = a.findObject(view.name);
  const former = draft.engine.definitionOf(view.name);
  const creation =
    wanted?.kind === view.kind
      ? findCreation(wanted, former, task)
      : { definition: former, statement: draft.engine.statementOf(view.name) as string };
  const { definition } = creation;
  const what = 'DROP and CREATE, because its columns get other types';
  draft.add({ identity: view, properties, what }, [
    drop,
    creation.statement,
    ...(definition?.kind === 'materialized view' && fillsItself(definition) ? [] : [refresh]),
  ]);
}

/** Lists objects that are invalid or suspended in B and remain so, with what repairs them. */
export function omitUnrepaired({ problems, a, ignore }: Task, draft: Draft): void {
  for (const { identity, state, reason } of problems) {
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
    else if ('invalid' in now && now.invalid !== undefined && !draft.lists(identity))
      draft.omitWithLosses(
        { ...change, what: 'a repair' },
        `${UNREPAIRED_REASONS[kind] ?? 'its query fails'}: ${reason}`,
      );
  }
}

/** Why a plan does not repair an invalid view. */
const UNREPAIRED_REASONS: { readonly [kind: string]: string } = {
  'materialized view': 'its query would fail again on the same rows',
  'live view': 'only DROP and CREATE make it valid, and its rows are lost',
};
