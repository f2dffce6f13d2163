/*!
 * Drafts the statements that fill and repair views. Example: A, the wanted schema, has a different query for `m` than B, the target. `m` is
 * DEFERRED, so the server does not fill it. The plan, without its assertions:
 *     CREATE TABLE 'm_unfilled_62c66a7a' (ts TIMESTAMP);           -- the mark: `m` is not filled yet
 *     DROP MATERIALIZED VIEW 'm';
 *     CREATE MATERIALIZED VIEW 'm' … REFRESH MANUAL DEFERRED …;    -- `m` is unfilled: it has a mark and no rows
 *     REFRESH MATERIALIZED VIEW 'm' FULL;                          -- fills `m`
 *     DROP TABLE 'm_unfilled_62c66a7a';
 * Suppose the plan is interrupted after the CREATE. Then B has `m` as A wants it, and only the mark shows that `m` lacks rows. The next
 * plan finds the mark, sends the REFRESH and drops the mark.
 */
import { expiresMoreRows, expiresRows, printResumeWal } from '@sqlpipe/ddl';
import { type CatalogueObject, type MaterializedView, OTHER_TYPES_REASON } from '@sqlpipe/engine';
import { isFailureOnRow } from '@sqlpipe/schema';
import { isSameName, type Kind, type KindAndName, NameSet, quoteLiteral } from '@sqlpipe/sql';
import { isMarked, isUnfilled, markOf, parseMark } from '../auxiliary.js';
import { losesNothingByRefresh, type PlanContext } from '../context/plan-context.js';
import { describeChange } from '../losses.js';
import { emptyAssertion } from '../queries/assertions.js';
import { printDrop, printFullRefresh } from '../statements.js';
import { isRedefined } from '../views/view-queries.js';
import { type Draft, toStatementChange } from './draft.js';
import {
  findCreation,
  findStoredViewsAndReaders,
  listObjects,
  readsTableOfB,
  reconcileObject,
} from './reconcile-objects.js';

/**
 * Gives stored views (materialized or live) and their readers the definitions of A, each after the views that it reads. Also repairs views:
 * - A stale plain view (`View.isStale`) gets its query again.
 * - An invalid materialized view is refreshed or recreated, unless its query would fail again.
 * - A materialized view that lacks rows is refreshed, unless the server fills it in time.
 */
export function reconcileStoredViews(draft: Draft): void {
  const { context, engine } = draft;
  const { a, engineOfB, ignore, wantedEngine } = context;
  const reconciledLast = findStoredViewsAndReaders(context);
  const namesOnlyInB = engine.catalogue.list().flatMap(({ name }) => (a.findObject(name) ? [] : name));
  const extra = engine.catalogue.inDependencyOrder(namesOnlyInB).map(({ name }) => name);
  /** The tables and materialized views that materialized views read, directly or through plain views. */
  const sourcesOf = (views: readonly MaterializedView[]) =>
    new NameSet(views.flatMap(view => wantedEngine.catalogue.sources(view)));
  const views = wantedEngine.catalogue.list().filter(object => object.kind === 'materialized view');
  const sourcesOfAll = sourcesOf(views);
  const sourcesOfViewsWithRows = sourcesOf(views.filter(view => mayHaveRowsInB(view, context)));
  const sourcesToFillFirst = findSourcesToFillFirst(context);
  const refreshed = new NameSet();
  const repair = (name: string): void => {
    const current = engine.find(name);
    if (!current || ignore.ignoresObject(current)) return;
    if (current.kind === 'view' && current.isStale) {
      const alteration = { action: 'query', body: current.body } as const;
      draft.alter(current.kind, current.name, alteration, propertiesOfRepair(current, draft));
    }
    if (current.kind !== 'materialized view' || staysUnrepaired(current, refreshed, draft)) return;
    const { invalidReason: reason } = current;
    // A query that failed on a row would fail again, unless the plan changes the type of a column that the query reads.
    const isRepairable = reason !== undefined && (!isFailureOnRow(reason) || readsRetypedColumn(current, draft));
    const wasInterrupted = isUnfilled(name, context);
    const losesSource = willSourcesLoseRows(current, draft);
    const isFilled = isFilledByServer(current);
    // Only a REFRESH fills it in time: before another view reads its rows, and before its sources lose rows.
    const needsRefresh = !isFilled || sourcesOfAll.has(name) || losesSource || wasInterrupted;
    // An interrupted plan may have dropped the view. Then its mark, or rows of a view that reads it, show that the view had rows.
    const hadRows = isMarked(name, context) || mayHaveRowsInB(current, context) || sourcesOfViewsWithRows.has(name);
    const isNeeded = sourcesToFillFirst.has(name) || losesSource || wasInterrupted;
    const isEmpty = !isInB(current, context) || (isFilled && engineOfB.wasNeverRefreshed(name)) || wasInterrupted;
    const lacksRows = isEmpty && (hadRows || (isNeeded && readsTableOfB(current, context)));
    if (!isRepairable && !(needsRefresh && lacksRows)) return;
    refreshView(current, needsRefresh, draft);
    refreshed.add(name);
  };
  for (const entry of listObjects(a)) {
    if (reconciledLast.has(entry)) reconcileObject(entry, draft);
    repair(entry.name);
  }
  for (const name of extra) repair(name);
}

/** Whether the server fills a view at its CREATE, and again after each change of its base. */
const isFilledByServer = ({ refresh }: Pick<MaterializedView, 'refresh'>): boolean =>
  refresh.type === 'IMMEDIATE' && !refresh.deferred;

const isInB = ({ id }: CatalogueObject, { engineOfB }: PlanContext): boolean =>
  engineOfB.catalogue.findById(id) !== undefined;

/**
 * Finds the sources that must be filled before a new or marked view, because REFRESH reads the rows that the sources have at that moment.
 * The base need not be filled first if all of this holds:
 * - The server fills the view. Then it also adds rows that the base gets later.
 * - No other new or marked view needs the rows of the view.
 * - No rows of the base expire.
 */
function findSourcesToFillFirst(context: PlanContext): NameSet {
  const { a, engineOfB, wantedEngine } = context;
  const needed = new NameSet();
  for (const { kind, name } of listObjects(a).reverse()) {
    const view = wantedEngine.find(name);
    const isInB = engineOfB.find(name)?.kind === kind;
    const isUnfilledView = !isInB || isMarked(name, context) || isUnfilled(name, context);
    if (view?.kind !== 'materialized view' || !isUnfilledView) continue;
    const isFollowed = !expiresRows(wantedEngine.definitionOf(view.base));
    const followed = isFollowed && isFilledByServer(view) && !needed.has(name) ? view.base : '';
    for (const source of wantedEngine.catalogue.sources(view)) if (!isSameName(source, followed)) needed.add(source);
  }
  return needed;
}

/**
 * Whether a view stays as it is, although it needs a repair. This concerns only views that A lacks, and has two reasons:
 * - The plan drops the view later.
 * - The view was invalid before the plan, and a refresh is not possible, or would lose rows. (If it is possible, an interrupted plan may
 *   have made the view invalid.) Exception: the view reads a refreshed view. The same cause may have made both invalid.
 */
function staysUnrepaired(view: MaterializedView, refreshed: NameSet, draft: Draft): boolean {
  const { engine, context } = draft;
  const { a, allowed, ignore, ignoreExtra } = context;
  if (a.findObject(view.name)) return false;
  if (!ignoreExtra && allowed.allows({ lossKind: 'drop', object: view.name })) return true;
  if (!wasInvalid(view, context) || [view.base, ...view.references].some(each => refreshed.has(each))) return false;
  const base = engine.find(view.base);
  const mayLose = allowed.allows({ lossKind: 'history', object: view.name });
  const losesRows = !mayLose && !losesNothingByRefresh(view.name, context);
  return !base || ignore.ignoresObject(base) || losesRows || draft.excludes(printFullRefresh(view.name), view);
}

const propertiesOfRepair = (view: KindAndName, { context }: Draft) =>
  wasInvalid(view, context) ? (['invalid'] as const) : [];

const wasInvalid = ({ name }: KindAndName, { healthProblems }: PlanContext): boolean =>
  healthProblems.some(({ identity, state }) => state === 'invalid' && isSameName(identity.name, name));

/** Whether the plan later drops a source of a view, or makes a source expire more rows. */
const willSourcesLoseRows = (view: MaterializedView, { engine, context: { wantedEngine } }: Draft): boolean =>
  engine.catalogue.sources(view).some(name => {
    const [current, wanted] = [engine.definitionOf(name), wantedEngine.definitionOf(name)];
    return !wantedEngine.find(name) || expiresMoreRows(current, wanted);
  });

function readsRetypedColumn(view: MaterializedView, { engine, context: { engineOfB } }: Draft) {
  return [...engine.catalogue.closure(view)].some(name => {
    const current = engine.find(name);
    const former = engineOfB.catalogue.findById(current?.id);
    const types = new Map(former?.kind === 'table' ? former.columns.map(({ id, type }) => [id, type]) : []);
    return current?.kind === 'table' && current.columns.some(({ id, type }) => types.has(id) && types.get(id) !== type);
  });
}

const mayHaveRowsInB = ({ kind, name }: KindAndName, { b, findStoredRows, renames }: PlanContext): boolean =>
  [name, renames.otherName(name) ?? name].some(
    candidate => b.findObject(candidate)?.kind === kind && findStoredRows(candidate) !== 'none',
  );

/**
 * Refreshes a view, or recreates it by DROP and CREATE in two cases:
 * - Its query returns other types than its columns have. A refresh empties the view, and fails if the base had rows (observed on 9.3.4).
 * - A plain view that it reads gets a different query. After that, no server can tell whether a refresh would lose rows. So the DROP goes
 *   before the change of the plain view (`Draft.#addStep`).
 *
 * A view that A lacks is not recreated: if the plan was interrupted after the DROP, its definition would be lost.
 * @param needsRefresh whether a recreated view is refreshed even if the server fills it
 */
function refreshView(view: MaterializedView, needsRefresh: boolean, draft: Draft): void {
  const { engine, context } = draft;
  const refresh = printFullRefresh(view.name);
  const properties = propertiesOfRepair(view, draft);
  // If the recreation of the view was left out, its omission already names the loss that the refresh would cause.
  if (draft.excludes(refresh, view) && draft.omits(view, 'invalid')) return;
  /** Why the view would be invalid after the refresh. */
  const reason = engine.tryOut(() => {
    engine.execute(refresh);
    return engine.invalidViews().get(view.name);
  });
  const wanted = context.a.findObject(view.name);
  const readsRedefinedView = () =>
    [...engine.catalogue.closure(view)].some(name => {
      const [former, current] = [context.engineOfB.find(context.renames.nameBeforePlan(name)), engine.find(name)];
      return former?.kind === 'view' && current?.kind === 'view' && isRedefined(former, current, context);
    });
  const isKept = wanted?.kind === view.kind && isInB(view, context);
  const isOutdated = reason === undefined && isKept && readsRedefinedView();
  const isRefreshEnough = reason === undefined && !isOutdated;
  const mustRecreate = reason === OTHER_TYPES_REASON || isOutdated;
  // An excluded refresh is passed too: `addStatement` then lists its loss, which the user has to know.
  if (isRefreshEnough || draft.excludes(refresh, view)) draft.addStatement(refresh, view, properties);
  if (!mustRecreate || wanted?.kind !== view.kind) return;
  const { definition, statement } = findCreation(wanted, engine.definitionOf(view.name), draft);
  const id = isOutdated ? 'recreate outdated' : 'recreate retyped';
  const why = isOutdated ? 'a view that it reads gets another query' : 'its columns get other types';
  draft.add({ ...describeChange(view, `DROP and CREATE, because ${why}`, properties), id }, [
    printDrop(view),
    statement,
    ...(!needsRefresh && definition?.kind === 'materialized view' && isFilledByServer(definition) ? [] : [refresh]),
  ]);
}

/** Leaves out, as omissions with a reason, the repair of suspended objects of A, and of its views that stay invalid. */
export function omitUnrepaired(draft: Draft): void {
  const { healthProblems, a, ignore } = draft.context;
  for (const { identity, state, reason } of healthProblems) {
    const { kind, name } = identity;
    const current = draft.engine.find(name);
    const isWanted = current?.kind === kind && a.findObject(name)?.kind === kind;
    if (!isWanted || ignore.ignoresObject(identity)) continue;
    const change = { identity, properties: [state] };
    const resume = { ...change, what: printResumeWal(identity) };
    if (state === 'suspended') draft.omit(resume, `suspended: ${reason}; remove the cause, then send this statement`);
    else if (('rejection' in current || 'invalidReason' in current) && !draft.omits(identity))
      draft.omit({ ...change, what: 'a repair' }, `${formatUnrepairedReason(kind, reason)}: ${reason}`);
  }
}

function formatUnrepairedReason(kind: Kind, reason: string): string {
  if (kind === 'live view') return 'only DROP and CREATE would make it valid, and would lose its rows';
  if (kind === 'view') return 'its query fails';
  return isFailureOnRow(reason)
    ? 'its query would fail again on the same rows'
    : 'a source stays invalid, so a refresh cannot repair the view';
}

/**
 * Marks the deferred views of A that the plan refreshes in full, or creates and refreshes. Removes the marks of views that are filled,
 * and of views that A lacks, unless these are kept (`ignoreExtra`).
 */
export function reconcileMarks(draft: Draft): void {
  const { engine } = draft;
  const { a, ignoreExtra } = draft.context;
  for (const view of engine.catalogue.list()) {
    const isFilled = view.kind === 'materialized view' && view.refresh.deferred && !view.wasNeverRefreshed;
    const isRefreshed = a.findObject(view.name) !== undefined && draft.hasStep(printFullRefresh(view.name));
    if (!isFilled || (isInB(view, draft.context) && !isRefreshed)) continue;
    const mark = markOf(view.name);
    if (engine.find(mark)) continue;
    draft.addBeforeChanges(`CREATE TABLE ${quoteLiteral(mark)} (ts TIMESTAMP);`, { kind: 'table', name: mark });
  }
  for (const { name } of engine.catalogue.list()) {
    const view = parseMark(name, draft.context);
    if (view === undefined || a.findObject(name)) continue;
    const isFilled = engine.find(view) !== undefined && !engine.wasNeverRefreshed(view);
    const drop = printDrop({ kind: 'table', name });
    const change = toStatementChange(drop, { kind: 'table', name });
    if (a.findObject(view) ? isFilled : !ignoreExtra) draft.add(change, [emptyAssertion(name), drop]);
  }
}
