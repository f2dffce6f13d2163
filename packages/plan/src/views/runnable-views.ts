/*!
 * Prints questions about the rows of a view that B's server can answer, even if an interrupted plan has renamed or dropped a source of the
 * view. Example: the plan has renamed `t` to `trades`, but view `m` still has the query `select ts, sum(x) n from t sample by 1d`. The
 * server is asked with a query that it can run:
 *     WITH "t" AS (SELECT * FROM 'trades') SELECT * FROM (select ts, sum(x) n from t sample by 1d)
 */
import { doubleQuote, findColumn, findReferencesOfQuery } from '@sqlpipe/ddl';
import type { CatalogueObject, ComputedView, Engine, RetentionEnforcement } from '@sqlpipe/engine';
import { isSameName, NameSet, quoteLiteral } from '@sqlpipe/sql';
import { type AuxiliaryTables, isUnfilled } from '../auxiliary/auxiliary-tables.js';
import { parseRebuildName } from '../auxiliary/rebuild-names.js';
import type { Schemas } from '../context/plan-context.js';
import type { ServerAnswers } from '../context/server-answers.js';
import { type CommonQuery, printWith, renameQuery } from '../queries/common-queries.js';
import { printExpiredQuestion, printUnendedRange, type RetainedObject } from '../queries/rows-to-drop.js';

/**
 * Finds the definition of a view, with a query that B's server can run.
 * @param query replaces the query of the view; B's server can run it
 */
export function findRunnableView(name: string, context: Schemas & AuxiliaryTables, query?: string) {
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

/**
 * Gives an object that a statement writes its former name. A view also gets its timestamp, which no server prints.
 * @param engine may lack the former object if the object is new
 */
export const withFormerName = <T extends RetainedObject>(
  { former, current }: { readonly former: RetainedObject; readonly current: T },
  { catalogue }: Engine,
): T => ({
  ...current,
  name: former.name,
  timestamp: former.timestamp ?? catalogue.compileAndFind(former.name)?.timestamp ?? current.timestamp,
});

/** @param body replaces the query of the former view; the server can run it */
export const findExpiredArguments = (
  enforcement: RetentionEnforcement,
  engine: Engine,
  body = enforcement.former.kind === 'table' ? undefined : enforcement.former.body,
) => [withFormerName(enforcement, engine), body] as const;

/** Creates the functions by which a row account asks the server. @param findBody finds the `body` for `findExpiredArguments` */
export const createRowQuestions = (
  answers: ServerAnswers,
  engine: Engine,
  findBody: (view: string) => string | undefined = () => undefined,
) => ({
  askExpired: (each: RetentionEnforcement) =>
    answers.askCount(printExpiredQuestion(...findExpiredArguments(each, engine, findBody(each.former.name)))),
  askUnended: (view: ComputedView) => answers.askUnendedRows(printUnendedRange(withFormerName(view, engine))),
});

/** Adds the opposite direction: the query of a dropped view is taken from A, so it may read new names that B lacks. */
const inBothDirections = (renames: Iterable<readonly [string, string]>) =>
  [...renames].flatMap(([from, to]) => [[from, to] as const, [to, from] as const]);

/** Finds queries of WITH for the sources of a query that B lacks: renamed tables, tables with renamed columns, dropped views. */
function findReplacements(body: string, context: Schemas & AuxiliaryTables, seen = new NameSet()): CommonQuery[] {
  const { a, engineOfB, leftovers, renames } = context;
  const markSeen = (name: string): boolean => {
    const isNew = !seen.has(name);
    seen.add(name);
    return isNew;
  };
  return findReferencesOfQuery(body).flatMap(name => {
    if (!markSeen(name)) return [];
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
    const queriesOfSources =
      isThere && view.kind === 'materialized view' ? [] : findReplacements(view.body, context, seen);
    if (isThere)
      return queriesOfSources.length === 0 && !isStaleView(former)
        ? []
        : [...queriesOfSources, { name, query: view.body, isView: true }];
    // B has no view of this name, or the view is not filled yet. So its query takes its place.
    const queryOfView = { name: view.name, query: view.body, isView: view.kind === 'view' };
    if (isSameName(name, view.name)) return [...queriesOfSources, queryOfView];
    return [...queriesOfSources, ...(markSeen(view.name) ? [queryOfView] : []), renameQuery(queryOfView, name)];
  });
}
