/*!
 * Prints queries of views that B's server can answer, although some of their sources have other names or definitions there. Such a source
 * is replaced by a query of WITH. Two examples for view `m` with the query `select ts, sum(x) n from t sample by 1d`:
 * - An interrupted plan has renamed `t` to `trades`. What rows does the query of `m` return?
 *       WITH "t" AS (SELECT * FROM 'trades') SELECT * FROM (select ts, sum(x) n from t sample by 1d)
 * - A plan changes `t.x` from INT to LONG. Will the server be able to compute the view then? It is asked before the change:
 *       WITH "t" AS (SELECT "ts", CAST("x" AS LONG) "x" FROM 't') SELECT * FROM (select ts, sum(x) n from t sample by 1d)
 */
import { compareDefinitions, doubleQuote, findColumn, findReferencesOfQuery, printConverted } from '@sqlpipe/ddl';
import type {
  CatalogueObject,
  ComputedView,
  Engine,
  MaterializedView,
  RetentionEnforcement,
  Table,
  View,
} from '@sqlpipe/engine';
import { isSameName, NameMap, NameSet, quoteLiteral } from '@sqlpipe/sql';
import { isUnfilled, parseRebuildName } from '../auxiliary.js';
import type { PlanContext } from '../context/plan-context.js';
import type { ServerAnswers } from '../context/server-answers.js';
import {
  type ExpiryQuestion,
  printExpiredQuestion,
  printUnendedRange,
  type RetainedObject,
} from '../queries/rows-to-drop.js';
import { printWith, renameInQuery, renameQuery, type WithQuery } from '../queries/with-queries.js';

/** Whether a view has another query than before. New names of the tables and columns that it reads do not count. */
export function isRedefined<V extends View | MaterializedView>(
  former: V,
  current: V,
  { renames, engineOfB }: PlanContext,
) {
  const body = renameInQuery(former.body, renames.statedNames(engineOfB.catalogue.closure(former.references)));
  return compareDefinitions({ ...former, body }, current).differences.some(({ property }) => property === 'query');
}

/**
 * Prints the query that a view will have after a plan, with a query of WITH for each source that the plan changes.
 * @param engine has executed some statements of a plan
 * @returns `isChanged`: whether a source of the view has other types or another query than before. Then only a server knows whether it can
 *   compute the query.
 */
export function printQueryAfterPlan(view: View | MaterializedView, engine: Engine, context: PlanContext) {
  const { catalogue } = engine;
  const queries = new NameMap<WithQuery>();
  /** The objects whose types or rows differ from those before the plan. */
  const changed = new NameSet();
  // B lacks a materialized view that the plan creates. So its query is put in its place, and the objects that this query reads are needed.
  const isExpanded = ({ kind, id }: CatalogueObject) =>
    kind === 'view' || (kind === 'materialized view' && !context.engineOfB.catalogue.findById(id));
  for (const { name } of catalogue.inDependencyOrder(catalogue.closure(view.references, isExpanded))) {
    const object = catalogue.compileAndFind(name);
    if (object?.kind === 'view') {
      const former = context.engineOfB.find(context.renames.nameBeforePlan(name));
      const hasOtherQuery = former?.kind !== 'view' || isRedefined(former, object, context);
      if (hasOtherQuery || object.references.some(reference => changed.has(reference))) changed.add(name);
      addPlainView(former, object, queries);
    } else if (object && object.kind !== 'live view' && object.opaqueStatement === undefined) {
      const readsChanged = 'references' in object && object.references.some(reference => changed.has(reference));
      const isRecreated = readsChanged && !context.engineOfB.catalogue.findById(object.id);
      const source = isRecreated ? toNewSourceQuery(object.body) : toSourceQuery(object, context);
      if (source.isChanged) changed.add(name);
      if (!source.isIdentical) queries.set(name, { name, query: source.query });
    }
  }
  return { query: printWith([...queries.values()], view.body), isChanged: changed.size > 0 };
}

/**
 * Prints the query of a view with the plain views of the engine, for a server that still has the former ones. Undefined if they are equal.
 * @param findFormer finds an object of the server
 */
export function printQueryOverPlainViews(
  { references, body }: MaterializedView,
  { catalogue }: Engine,
  findFormer: (name: string) => CatalogueObject | undefined,
): string | undefined {
  const queries = new NameMap<WithQuery>();
  for (const object of catalogue.inDependencyOrder(catalogue.closure(references)))
    if (object.kind === 'view') addPlainView(findFormer(object.name), object, queries);
  return queries.size === 0 ? undefined : printWith([...queries.values()], body);
}

/**
 * Adds a query of WITH, unless the server's view can stand instead. The server must be able to query it, its name and query must stay, and
 * no object that it reads may need a query of WITH. For example, a renamed table needs one.
 */
function addPlainView(former: CatalogueObject | undefined, view: View, queries: NameMap<WithQuery>): void {
  const { name, body, references } = view;
  const isSame = former?.kind === 'view' && former.name === name && former.body === body && !former.isStale;
  if (!isSame || references.some(reference => queries.has(reference)))
    queries.set(name, { name, query: body, isView: true });
}

const toNewSourceQuery = (query: string) => ({ query, isChanged: true, isIdentical: false });

/** Whether another column becomes the designated timestamp of a table. A new name of the column does not count. */
export const changesTimestamp = (former: RetainedObject, current: RetainedObject, { renames }: PlanContext): boolean =>
  !isSameName(renames.columnBeforePlan(current.name, current.timestamp ?? ''), former.timestamp ?? '');

/** Prints a query that returns what an object will return. @returns `isIdentical`: whether B's object already returns the same */
function toSourceQuery(object: Table | MaterializedView, context: PlanContext) {
  const { engineOfB, renames } = context;
  const { catalogue } = engineOfB;
  const { id, name, columns, timestamp } = object;
  const formerName = (catalogue.findById(id) ?? catalogue.find(renames.nameBeforePlan(name)))?.name;
  const found = formerName === undefined ? undefined : catalogue.compileAndFind(formerName);
  /** Has stored the rows so far. */
  const former = found?.kind === 'view' ? undefined : found;
  if (!former && object.kind === 'materialized view') return toNewSourceQuery(object.body);
  const hasOtherTimestamp = former && object.kind === 'table' && changesTimestamp(former, object, context);
  let isChanged = hasOtherTimestamp || former?.columns.length !== columns.length;
  // The server loses the designated timestamp if it is converted, and in joins if a new column stands beside one with another name.
  let isTimestampHidden = hasOtherTimestamp || !former;
  let isIdentical = former?.name === name;
  const items = columns.map(({ name: columnName, type }) => {
    const formerColumn = former && findColumn(former, renames.columnBeforePlan(name, columnName));
    const hasOtherType = formerColumn?.type !== type;
    isChanged ||= hasOtherType;
    isTimestampHidden ||= !formerColumn || (hasOtherType && isSameName(columnName, timestamp));
    const value = formerColumn ? doubleQuote(formerColumn.name) : 'NULL';
    const cast = hasOtherType ? printConverted(value, formerColumn?.type ?? type, type) : value;
    isIdentical &&= cast === doubleQuote(columnName);
    return cast === doubleQuote(columnName) ? cast : `${cast} ${doubleQuote(columnName)}`;
  });
  let query = `SELECT ${items.join(', ')} FROM ${former ? quoteLiteral(former.name) : 'long_sequence(0)'}`;
  if (isTimestampHidden && timestamp !== undefined) {
    const time = doubleQuote(timestamp);
    query = `SELECT * FROM (${query}${hasOtherTimestamp ? ` ORDER BY ${time}` : ''}) TIMESTAMP(${time})`;
  }
  return { query, isChanged, isIdentical: isIdentical && !isChanged };
}

/** The definition of a view, with a query that B's server can run. @param query replaces that of the view; B's server can run it */
export function findRunnableView(name: string, context: PlanContext, query?: string) {
  const definition = context.engineOfB.definitionOf(name);
  if (definition?.kind !== 'materialized view') return undefined;
  if (query !== undefined) return { ...definition, body: query };
  const { body } = definition;
  const { catalogue } = context.engineOfB;
  const references = findReferencesOfQuery(body);
  const isQueryable =
    context.engineOfB.findUnresolvedReason(name) === undefined &&
    references.every(each => catalogue.find(each) && !isUnfilled(each, context)) &&
    ![...catalogue.closure(references)].some(each => isStaleView(catalogue.find(each)));
  return isQueryable ? definition : { ...definition, body: printWith(findReplacements(body, context), body) };
}

const isStaleView = (object: CatalogueObject | undefined): boolean =>
  object?.kind === 'view' && object.isStale === true;

/** Gives an object its former name, and a view its timestamp, which no server prints. @param engine may lack the former object */
export const withFormerName = <T extends RetainedObject>(
  { former, current }: { readonly former: RetainedObject; readonly current: T },
  { catalogue }: Engine,
): T => ({
  ...current,
  name: former.name,
  timestamp: former.timestamp ?? catalogue.compileAndFind(former.name)?.timestamp ?? current.timestamp,
});

/** @param body replaces the query of the former view; the server can run it */
export const toExpiryQuestion = (
  enforcement: RetentionEnforcement,
  engine: Engine,
  body = enforcement.former.kind === 'table' ? undefined : enforcement.former.body,
): ExpiryQuestion => ({ retained: withFormerName(enforcement, engine), body });

/** Creates the functions by which a row account asks the server. @param findBody finds the `body` for `toExpiryQuestion` */
export const createRowQuestions = (
  answers: ServerAnswers,
  engine: Engine,
  findBody: (view: string) => string | undefined = () => undefined,
) => ({
  askExpired: (each: RetentionEnforcement) =>
    answers.askCount(printExpiredQuestion(toExpiryQuestion(each, engine, findBody(each.former.name)))),
  askUnended: (view: ComputedView) => answers.askUnendedRows(printUnendedRange(withFormerName(view, engine))),
});

/** Adds the opposite direction: the query of a dropped view is taken from A, so it may read new names that B lacks. */
const inBothDirections = (renames: Iterable<readonly [string, string]>) =>
  [...renames].flatMap(([from, to]) => [[from, to] as const, [to, from] as const]);

/** Finds queries of WITH for the sources of a query that B lacks: renamed tables, tables with renamed columns, dropped views. */
function findReplacements(body: string, context: PlanContext, seen = new NameSet()): WithQuery[] {
  const { a, engineOfB, leftovers, renames } = context;
  return findReferencesOfQuery(body).flatMap(name => {
    if (seen.has(name)) return [];
    seen.add(name);
    const otherName = inBothDirections(renames.statedObjects).find(([from]) => isSameName(from, name))?.[1] ?? name;
    // If a rebuild was interrupted between its two RENAMEs, its new table still has the temporary name.
    const rebuiltName = [...leftovers].find(each => isSameName(parseRebuildName(each)?.table, name)) ?? '';
    const former = engineOfB.find(name) ?? engineOfB.find(otherName) ?? engineOfB.find(rebuiltName);
    const view = former ? engineOfB.definitionOf(former.name) : (a.definitionOf(name) ?? a.definitionOf(otherName));
    if (former?.kind === 'table') {
      const renamed = inBothDirections(renames.statedColumnsOf(former.name)).filter(
        ([from, to]) => findColumn(former, to) && !findColumn(former, from),
      );
      const items = ['*', ...renamed.map(([from, to]) => `${doubleQuote(to)} ${doubleQuote(from)}`)];
      const isSame = isSameName(former.name, name) && renamed.length === 0;
      return isSame ? [] : [{ name, query: `SELECT ${items.join(', ')} FROM ${quoteLiteral(former.name)}` }];
    }
    if (view?.kind !== 'view' && view?.kind !== 'materialized view') return [];
    const isThere = former !== undefined && isSameName(former.name, name) && !isUnfilled(name, context);
    if (isThere && view.kind === 'materialized view') return [];
    const queriesOfSources = findReplacements(view.body, context, seen);
    const isUsable = isThere && queriesOfSources.length === 0 && !isStaleView(former);
    if (isThere) return isUsable ? [] : [...queriesOfSources, { name, query: view.body, isView: true }];
    // B has no view of this name, or the view is not filled yet. So its query takes its place.
    const queryOfView = { name: view.name, query: view.body, isView: view.kind === 'view' };
    if (isSameName(name, view.name)) return [...queriesOfSources, queryOfView];
    const queryOfOtherName = seen.has(view.name) ? [] : [queryOfView];
    seen.add(view.name);
    return [...queriesOfSources, ...queryOfOtherName, renameQuery(queryOfView, name)];
  });
}
