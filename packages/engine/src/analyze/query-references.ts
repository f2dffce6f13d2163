/*! Finds what a query reads, and whether it returns no rows over tables without rows. */
import type { QualifiedName, SelectStatement } from '@questdb/sql-parser';
import { isSameName } from '@sqlpipe/sql';
import type { Catalogue } from '../catalogue.js';
import type { CatalogueObject } from '../catalogue-objects.js';
import { childrenOf, type ParsedQuery, parseQueryText, type TreeNode } from '../parse/parse-query.js';
import { requirePartialReadAccess, type Session } from '../session.js';
import { hasAggregate } from './expressions.js';
import { QueryScope, type Source, type TableRef } from './query-scope.js';

export const findQueryReferences = (query: ParsedQuery, catalogue: Catalogue): string[] => [
  ...new Set(listReadObjects(query, catalogue).map(({ object }) => object.name)),
];

/** Requires the right to read what a query reads. @throws DenialError */
export function requireQueryReadAccess(session: Session, query: ParsedQuery): void {
  for (const { object, columns } of listReadObjects(query, session.catalogue)) {
    requirePartialReadAccess(session, object.name);
    // The right to read one column includes the timestamp. Single columns of a plain view cannot be granted.
    const columnsToCheck = object.kind === 'view' ? [] : columns.filter(name => name !== object.timestamp);
    if (columnsToCheck.length > 0) session.authorize('SELECT', object.name, columnsToCheck);
  }
}

export const findColumnsRead = (query: ParsedQuery, catalogue: Catalogue, name: string): string[] =>
  listReadObjects(query, catalogue).flatMap(({ object, columns }) => (isSameName(object.name, name) ? columns : []));

/** A column name without a table counts for every table that has such a column. A query of WITH that is not used reads nothing. */
function listReadObjects(query: ParsedQuery, catalogue: Catalogue): { object: CatalogueObject; columns: string[] }[] {
  const tables: { object: CatalogueObject; alias: string; readsAllColumns: boolean }[] = [];
  const columns: (readonly string[])[] = [];
  const visited = new WeakSet<TreeNode>();

  const addSource = (ref: TableRef, scope: QueryScope, selectItems: SelectStatement['columns']): void => {
    const source = scope.sourceOf(ref);
    if ('select' in source) return visit(source.select, source.scope, []);
    if ('function' in source) return visitAll(childrenOf(ref.table), scope, selectItems);
    const { name, object } = source;
    const alias = ref.alias ?? name;
    const readsAllColumns = selectItems.some(
      item =>
        item.type === 'star' || (item.type === 'qualifiedStar' && isSameName(item.qualifier.parts.join('.'), alias)),
    );
    if (object) tables.push({ object, alias, readsAllColumns });
  };

  const visit = (node: TreeNode, scope: QueryScope, selectItems: SelectStatement['columns']): void => {
    if (visited.has(node)) return;
    visited.add(node);
    if (node.type === 'qualifiedName') columns.push((node as QualifiedName).parts);
    else if (node.type === 'select') {
      // What WITH and DECLARE define is visited where it is used.
      const { with: _, declare: __, ...rest } = node as SelectStatement;
      visitAll(childrenOf(rest), scope.enter(node as SelectStatement), rest.columns);
    } else if (node.type === 'tableRef') {
      const { table: _, ...rest } = node as TableRef;
      addSource(node as TableRef, scope, selectItems);
      visitAll(childrenOf(rest), scope, selectItems);
    } else if (node.type === 'variable') {
      const value = scope.findVariable((node as { type: string; name: string }).name);
      if (value) visit(value, scope, selectItems);
    } else visitAll(childrenOf(node), scope, selectItems);
  };

  const visitAll = (nodes: readonly TreeNode[], scope: QueryScope, selectItems: SelectStatement['columns']): void => {
    for (const node of nodes) visit(node, scope, selectItems);
  };

  visit(query.select, QueryScope.around(query, catalogue), []);
  return tables.map(({ object, alias, readsAllColumns }) => {
    const isRead = (name: string) =>
      columns.some(
        parts =>
          isSameName(parts.at(-1), name) && (parts.length === 1 || isSameName(parts.slice(0, -1).join('.'), alias)),
      );
    const names = object.columns.map(({ name }) => name);
    return { object, columns: readsAllColumns ? names : names.filter(isRead) };
  });
}

/** Whether a query certainly returns no rows if no table has rows. For example, that is not certain with WITH, PIVOT or FILL. */
export function returnsNoRows(query: ParsedQuery, catalogue: Catalogue): boolean {
  /** Cached, because views over views can name one view many times. */
  const views = new Map<string, boolean>();

  const isEmptySource = (source: Source): boolean => {
    if ('function' in source) return false;
    if ('select' in source) return isEmptySelect(source.select, source.scope);
    const { object } = source;
    if (object?.kind !== 'view') return object !== undefined;
    const isEmpty = views.get(object.name) ?? isEmptyQuery(parseQueryText(object.body));
    views.set(object.name, isEmpty);
    return isEmpty;
  };

  const isEmptySelect = (each: SelectStatement, outer: QueryScope): boolean => {
    const { with: common, pivot, sampleBy, groupBy, columns, from = [], setOperations = [] } = each;
    if (common || pivot || sampleBy?.fill || from.length === 0) return false;
    // In `SELECT sym, sum(qty)`, the plain column `sym` is a key. Without rows, there is no group.
    const isGrouped =
      groupBy || sampleBy || columns.some(item => item.type === 'selectItem' && item.expression.type === 'column');
    if (!isGrouped && columns.some(hasAggregate)) return false;
    const scope = outer.enter(each);
    return (
      scope.sourcesOf(each).every(isEmptySource) && setOperations.every(({ select }) => isEmptySelect(select, scope))
    );
  };

  const isEmptyQuery = (each: ParsedQuery): boolean => isEmptySelect(each.select, QueryScope.around(each, catalogue));

  return isEmptyQuery(query);
}
