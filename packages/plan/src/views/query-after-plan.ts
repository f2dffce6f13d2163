/*!
 * Prints the query that a view will have after a plan, with a query of WITH for each source that the plan changes.
 * Example: a plan changes `t.x` from INT to LONG. Will the server be able to compute the view then? It is asked before the change:
 *     WITH "t" AS (SELECT "ts", CAST("x" AS LONG) "x" FROM 't') SELECT * FROM (select ts, sum(x) n from t sample by 1d)
 */
import { compareDefinitions, doubleQuote, findColumn, printConverted, type TableDefinition } from '@sqlpipe/ddl';
import type { CatalogueObject, Engine, MaterializedView, Table, View } from '@sqlpipe/engine';
import { isSameName, NameMap, NameSet, quoteLiteral } from '@sqlpipe/sql';
import type { Schemas } from '../context/plan-context.js';
import { type CommonQuery, printWith, renameInQuery } from '../queries/common-queries.js';

/** Whether a view has another query than before. New names of the tables and columns that it reads do not count. */
export function isRedefined<V extends View | MaterializedView>(
  former: V,
  current: V,
  { renames, engineOfB }: Schemas,
): boolean {
  const body = renameInQuery(former.body, renames.statedNames(engineOfB.catalogue.closure(former.references)));
  return compareDefinitions({ ...former, body }, current).differences.some(({ property }) => property === 'query');
}

/**
 * @param engine has executed some statements of a plan
 * @returns `isChanged`: whether a source of the view has other types or another query than before. Then only a server knows whether it can
 *   compute the query.
 */
export function printQueryAfterPlan(
  view: View | MaterializedView,
  engine: Engine,
  schemas: Schemas,
): { query: string; isChanged: boolean } {
  const { catalogue } = engine;
  const queries = new NameMap<CommonQuery>();
  /** The objects whose types or rows differ from those before the plan. */
  const changed = new NameSet();
  // B lacks a materialized view that the plan creates. So its query is put in its place, and the objects that this query reads are needed.
  const isExpanded = ({ kind, id }: CatalogueObject) =>
    kind === 'view' || (kind === 'materialized view' && !schemas.engineOfB.catalogue.findById(id));
  for (const { name } of catalogue.inDependencyOrder(catalogue.closure(view.references, isExpanded))) {
    const object = catalogue.compileAndFind(name);
    if (object?.kind === 'view') {
      const former = schemas.engineOfB.find(schemas.renames.nameBeforePlan(name));
      const hasOtherQuery = former?.kind !== 'view' || isRedefined(former, object, schemas);
      if (hasOtherQuery || object.references.some(reference => changed.has(reference))) changed.add(name);
      if (!canUseFormer(former, object, queries)) queries.set(name, { name, query: object.body, isView: true });
    } else if (object && object.kind !== 'live view' && object.opaque === undefined) {
      const readsChanged = 'references' in object && object.references.some(reference => changed.has(reference));
      const isRecreated = readsChanged && !schemas.engineOfB.catalogue.findById(object.id);
      const source = isRecreated ? printRecreated(object.body) : printSource(object, schemas);
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
  const queries = new NameMap<CommonQuery>();
  for (const object of catalogue.inDependencyOrder(catalogue.closure(references))) {
    const former = findFormer(object.name);
    if (object.kind !== 'view') continue;
    if (!canUseFormer(former, object, queries))
      queries.set(object.name, { name: object.name, query: object.body, isView: true });
  }
  return queries.size === 0 ? undefined : printWith([...queries.values()], body);
}

/**
 * Whether the server's view can stand instead of a query of WITH. The server must be able to query it, its name and query must stay, and
 * no object that it reads may need a query of WITH. For example, a renamed table needs one.
 */
const canUseFormer = (former: CatalogueObject | undefined, view: View, queries: NameMap<CommonQuery>): boolean =>
  former?.kind === 'view' &&
  former.name === view.name &&
  former.body === view.body &&
  !former.isStale &&
  view.references.every(reference => !queries.has(reference));

const printRecreated = (query: string) => ({ query, isChanged: true, isIdentical: false });

/** Finds the object of B that stores the rows of a table or a view; undefined if B has no such object. */
function findFormer({ id, name }: Table | MaterializedView, { engineOfB: { catalogue }, renames }: Schemas) {
  const found = catalogue.findById(id) ?? catalogue.find(renames.nameBeforePlan(name));
  const former = found && catalogue.compileAndFind(found.name);
  return former?.kind === 'view' ? undefined : former;
}

/** Whether another column becomes the designated timestamp of a table. A new name of the column does not count. */
export const changesTimestamp = (
  { timestamp: formerName = '' }: Pick<TableDefinition, 'timestamp'>,
  { name, timestamp = '' }: Pick<TableDefinition, 'name' | 'timestamp'>,
  { renames }: Schemas,
): boolean => !isSameName(renames.columnBeforePlan(name, timestamp), formerName);

/** Prints a query that returns what an object will return. @returns `isIdentical`: whether B's object already returns the same */
function printSource(object: Table | MaterializedView, schemas: Schemas) {
  const former = findFormer(object, schemas);
  const isNew = former === undefined;
  if (isNew && object.kind === 'materialized view') return printRecreated(object.body);
  const hasOtherTimestamp = object.kind === 'table' && !isNew && changesTimestamp(former, object, schemas);
  let isChanged = isNew || hasOtherTimestamp || former.columns.length !== object.columns.length;
  const items = object.columns.map(column => {
    const { name, type } = column;
    const formerColumn = isNew ? undefined : findColumn(former, schemas.renames.columnBeforePlan(object.name, name));
    isChanged ||= formerColumn?.type !== type;
    const value = formerColumn ? doubleQuote(formerColumn.name) : 'NULL';
    const cast = formerColumn?.type === type ? value : printConverted(value, formerColumn?.type ?? type, type);
    return cast === doubleQuote(name) ? cast : `${cast} ${doubleQuote(name)}`;
  });
  const selected = `SELECT ${items.join(', ')} FROM ${isNew ? 'long_sequence(0)' : quoteLiteral(former.name)}`;
  // The server loses the designated timestamp if it is converted, and in joins if a new column stands beside one with another name.
  const isTimestampHidden =
    isNew ||
    object.columns.some(column => {
      const formerColumn = findColumn(former, schemas.renames.columnBeforePlan(object.name, column.name));
      return !formerColumn || (isSameName(column.name, object.timestamp) && formerColumn.type !== column.type);
    });
  const time = object.timestamp === undefined ? undefined : doubleQuote(object.timestamp);
  const query =
    (isTimestampHidden || hasOtherTimestamp) && time !== undefined
      ? `SELECT * FROM (${selected}${hasOtherTimestamp ? ` ORDER BY ${time}` : ''}) TIMESTAMP(${time})`
      : selected;
  const areItemsPlain = object.columns.every(({ name }, i) => items[i] === doubleQuote(name));
  const isIdentical = !isChanged && former?.name === object.name && areItemsPlain;
  return { query, isChanged, isIdentical };
}
