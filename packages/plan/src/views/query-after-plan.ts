/*!
 * Prints the query that a view will have after a plan, with a query of WITH for each source that the plan changes.
 * Example: the plan changes `t.x` from INT to LONG. Before it does, the server is asked whether it will be able to compute a view:
 *     WITH "t" AS (SELECT "ts", CAST("x" AS LONG) "x" FROM 't') SELECT * FROM (select ts, sum(x) n from t sample by 1d)
 */
import { compareDefinitions, findColumn, printConverted } from '@sqlpipe/ddl';
import type { Engine, MaterializedView, Table, View } from '@sqlpipe/engine';
import { NameMap } from '@sqlpipe/sql';
import type { PlanContext } from '../context/plan-context.js';
import { type CommonQuery, printWith } from '../queries/common-queries.js';
import { renameInQuery } from '../queries/history.js';
import { doubleQuote } from '../statements/statement-text.js';

/** Whether a view has another query than before, apart from new names of what it reads. */
export function isRedefined<V extends View | MaterializedView>(
  former: V,
  now: V,
  { renames, engineOfB }: PlanContext,
): boolean {
  const body = renameInQuery(former.body, renames.statedNames(engineOfB.catalogue.closure(former.references)));
  return compareDefinitions({ ...former, body }, now).differences.some(({ property }) => property === 'query');
}

/**
 * @param engine has executed some statements of a plan
 * @returns `isChanged`: whether the query reads other types or queries than before, so that only a server knows whether it can be computed
 */
export function printQueryAfterPlan(
  view: View | MaterializedView,
  engine: Engine,
  context: PlanContext,
): { query: string; isChanged: boolean } {
  const { catalogue } = engine;
  const queries = new NameMap<CommonQuery>();
  let isChanged = false;
  const names = catalogue.closure(view.references);
  // The query of a new materialized view takes its place. So what this query reads is needed too.
  for (const name of names) {
    const source = catalogue.find(name);
    if (source?.kind === 'materialized view' && !findFormer(source, context))
      for (const each of catalogue.closure(source.references)) names.add(each);
  }
  for (const { name } of catalogue.inDependencyOrder(names)) {
    const object = catalogue.resolve(name);
    if (object?.kind === 'view') {
      const former = context.engineOfB.find(context.renames.nameBeforePlan(name));
      isChanged ||= former?.kind !== 'view' || isRedefined(former, object, context);
      // A plain view of B cannot be queried if what it reads was renamed before an interruption.
      const isSame = former?.kind === 'view' && former.name === name && former.body === object.body;
      if (isSame && object.references.every(reference => !queries.has(reference))) continue;
      queries.set(name, { name, query: object.body, isView: true });
    } else if (object && object.kind !== 'live view' && object.opaque === undefined) {
      const source = printSource(object, context);
      isChanged ||= source.isChanged;
      if (!source.isIdentical) queries.set(name, { name, query: source.query });
    }
  }
  return { query: printWith([...queries.values()], view.body), isChanged };
}

/** The object of B that stores the rows; undefined if B has none. */
function findFormer({ id, name }: Table | MaterializedView, { engineOfB: { catalogue }, renames }: PlanContext) {
  const found = catalogue.findById(id) ?? catalogue.find(renames.nameBeforePlan(name));
  const former = found && catalogue.resolve(found.name);
  return former?.kind === 'view' ? undefined : former;
}

/** If B lacks a table, its query returns columns and no rows. @returns `isIdentical`: whether B's object serves without this query */
function printSource(object: Table | MaterializedView, context: PlanContext) {
  const former = findFormer(object, context);
  const isNew = former === undefined;
  if (isNew && object.kind === 'materialized view') return { query: object.body, isChanged: true, isIdentical: false };
  let isChanged = isNew;
  const items = object.columns.map(column => {
    const { name, type } = column;
    const formerColumn = isNew ? undefined : findColumn(former, context.renames.columnBeforePlan(object.name, name));
    isChanged ||= formerColumn?.type !== type;
    const value = formerColumn ? doubleQuote(formerColumn.name) : 'NULL';
    const cast = formerColumn?.type === type ? value : printConverted(value, formerColumn?.type ?? type, type);
    return cast === doubleQuote(name) ? cast : `${cast} ${doubleQuote(name)}`;
  });
  const selected = `SELECT ${items.join(', ')} FROM ${isNew ? 'long_sequence(0)' : `'${former.name}'`}`;
  // A new column beside one with another name hides the designated timestamp from joins (observed on 9.3.4).
  const isExtended =
    isNew ||
    object.columns.some(({ name }) => !findColumn(former, context.renames.columnBeforePlan(object.name, name)));
  const query =
    isExtended && object.timestamp !== undefined
      ? `SELECT * FROM (${selected}) TIMESTAMP(${doubleQuote(object.timestamp)})`
      : selected;
  const isUnnamed = object.columns.every(({ name }, i) => items[i] === doubleQuote(name));
  const isIdentical = !isChanged && former?.name === object.name && isUnnamed;
  return { query, isChanged, isIdentical };
}
