/*!
 * What a query reads: the tables and views, of each the columns that the right to read is needed for, and whether it returns no
 * rows because the tables have none.
 */
import type { QualifiedName, SelectStatement } from '@questdb/sql-parser';
import { findReferences } from '@sqlpipe/ddl';
import { foldCase, isSameName } from '@sqlpipe/sql';
import { hasAggregate, tableName } from './analysis/relation.js';
import type { Catalogue } from './catalogue.js';
import type { CatalogueObject } from './catalogue-objects.js';
import { childrenOf, parseQueryText, type Query, type TableRef, type TreeNode } from './parser/parsed-query.js';
import { requireReadable, type Session } from './session.js';

/** The tables and views that the query of a view refers to, each once, as the catalogue spells them. */
export function findBodyReferences(body: string, catalogue: Catalogue): string[] {
  const isView = (name: string) => catalogue.find(name)?.kind === 'view';
  const names = findReferences(`CREATE VIEW v AS (\n${body}\n);`, isView);
  return [...new Set(names.flatMap(name => catalogue.find(name)?.name ?? []))];
}

/** Requires the right to read every column that a query names, to execute or to store the query. @throws DenialError */
export function requireReadAccess(session: Session, query: Query): void {
  for (const { object, columns } of listReads(query, session.catalogue)) {
    requireReadable(session, object.name);
    // The right to read one column includes the timestamp; single columns of a view cannot be granted.
    const columnsToCheck = object.kind === 'view' ? [] : columns.filter(name => name !== object.timestamp);
    if (columnsToCheck.length > 0) session.authorize('SELECT', object.name, columnsToCheck);
  }
}

/** The columns that a query reads of an object. */
export const columnsRead = (query: Query, catalogue: Catalogue, name: string): string[] =>
  listReads(query, catalogue).flatMap(({ object, columns }) => (isSameName(object.name, name) ? columns : []));

/**
 * Each table and view that a query refers to, with the columns that it reads there. A column name without a table
 * counts for every table that has such a column.
 */
function listReads({ select }: Query, catalogue: Catalogue): { object: CatalogueObject; columns: string[] }[] {
  const tables: { object: CatalogueObject; alias: string; readsAllColumns: boolean }[] = [];
  const columns: (readonly string[])[] = [];

  const addTable = (ref: TableRef, items: SelectStatement['columns'], cteNames: ReadonlySet<string>) => {
    const name = tableName(ref) ?? '';
    const object = cteNames.has(foldCase(name)) ? undefined : catalogue.resolve(name);
    const alias = foldCase(ref.alias ?? name);
    const readsAllColumns = items.some(
      item =>
        item.type === 'star' || (item.type === 'qualifiedStar' && foldCase(item.qualifier.parts.join('.')) === alias),
    );
    if (object) tables.push({ object, alias, readsAllColumns });
  };

  /** @param cteNames the queries of WITH that are in scope: they shadow tables */
  const visit = (node: TreeNode, outer: SelectStatement, cteNames: ReadonlySet<string>): void => {
    let [rest, within, names]: [object, SelectStatement, ReadonlySet<string>] = [node, outer, cteNames];
    if (node.type === 'qualifiedName') return void columns.push((node as QualifiedName).parts.map(foldCase));
    if (node.type === 'tableRef') {
      const { table, ...others } = node as TableRef;
      if (table.type === 'qualifiedName') addTable(node as TableRef, outer.columns, cteNames);
      else visit(table, outer, cteNames);
      rest = others;
    } else if (node.type === 'select') {
      within = node as SelectStatement;
      const { with: queries = [], ...others } = within;
      for (const { name, query } of queries) {
        visit(query, outer, names);
        names = new Set([...names, foldCase(name)]);
      }
      rest = others;
    }
    for (const child of childrenOf(rest)) visit(child, within, names);
  };

  visit(select, select, new Set());
  return tables.map(({ object, alias, readsAllColumns }) => {
    const isRead = (name: string) =>
      columns.some(parts => parts.at(-1) === name && (parts.length === 1 || parts.slice(0, -1).join('.') === alias));
    const names = object.columns.map(({ name }) => name);
    return { object, columns: readsAllColumns ? names : names.filter(name => isRead(foldCase(name))) };
  });
}

/**
 * Whether a query is certain to return no rows if no table and no materialized view has rows. It is not certain of a
 * query with WITH, PIVOT or FILL, nor of one that may aggregate all rows into one.
 */
export function returnsNoRows({ select }: Query, catalogue: Catalogue): boolean {
  /** Each view is read once: views over views can name one many times. */
  const views = new Map<string, boolean>();

  const isEmptyView = (name: string, body: string): boolean => {
    const isEmpty = views.get(name) ?? isEmptySelect(parseQueryText(body).select);
    views.set(name, isEmpty);
    return isEmpty;
  };

  const isEmptySource = (ref: TableRef): boolean => {
    if (!(ref.joins ?? []).every(join => isEmptySource(join.table))) return false;
    if (ref.table.type === 'select') return isEmptySelect(ref.table);
    const object = catalogue.resolve(tableName(ref) ?? '');
    return object?.kind === 'view' ? isEmptyView(object.name, object.body) : object !== undefined;
  };

  const isEmptySelect = (each: SelectStatement): boolean => {
    const { with: common, pivot, sampleBy, groupBy, columns, from = [], setOperations = [] } = each;
    if (common || pivot || sampleBy?.fill || from.length === 0) return false;
    const isGrouped = groupBy || sampleBy || columns.some(isPlainColumn);
    if (!isGrouped && columns.some(hasAggregate)) return false;
    return from.every(isEmptySource) && setOperations.every(operation => isEmptySelect(operation.select));
  };

  return isEmptySelect(select);
}

/** Beside an aggregate, a plain column is a key: without rows there is no group. */
const isPlainColumn = (item: SelectStatement['columns'][number]): boolean =>
  item.type === 'selectItem' && item.expression.type === 'column';
