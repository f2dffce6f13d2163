/*! What a query reads: the tables and views, and of each the columns that the right to read is needed for. */

import type { QualifiedName, SelectStatement } from '@questdb/sql-parser';
import { findReferences } from '@sqlpipe/ddl';
import { foldCase, isSameName } from '@sqlpipe/sql';
import type { Catalogue } from './catalogue.js';
import type { CatalogueObject } from './catalogue-objects.js';
import { childrenOf, type Query, type TreeNode } from './parser/parsed-query.js';
import { requireReadable, type Session } from './session.js';

type TableRef = NonNullable<SelectStatement['from']>[number];

/** Called for each table, with the query that contains it, and for each column name. CTE names shadow tables. */
interface Visitor {
  table(ref: TableRef & { table: QualifiedName }, select: SelectStatement, cteNames: ReadonlySet<string>): void;
  column?(parts: readonly string[]): void;
}

/** The tables and views that the query of a view refers to, each once, as the catalogue spells them. */
export function findBodyReferences(body: string, catalogue: Catalogue): string[] {
  const isView = (name: string) => catalogue.find(name)?.kind === 'view';
  const names = findReferences(`CREATE VIEW v AS (\n${body}\n);`, isView);
  return [...new Set(names.flatMap(name => catalogue.find(name)?.name ?? []))];
}

/** A table's name without the schema `public`. */
const nameOf = ({ parts }: QualifiedName): string =>
  parts.filter((part, i, { length }) => length === 1 || i > 0 || part.toLowerCase() !== 'public').join('.');

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
  visit(select, select, new Set(), {
    table(ref, { columns: items }, cteNames) {
      const name = nameOf(ref.table);
      const object = cteNames.has(foldCase(name)) ? undefined : catalogue.resolve(name);
      const alias = foldCase(ref.alias ?? name);
      const readsAllColumns = items.some(
        item =>
          item.type === 'star' || (item.type === 'qualifiedStar' && foldCase(item.qualifier.parts.join('.')) === alias),
      );
      if (object) tables.push({ object, alias, readsAllColumns });
    },
    column: parts => columns.push(parts.map(foldCase)),
  });
  return tables.map(({ object, alias, readsAllColumns }) => {
    const isRead = (name: string) =>
      columns.some(parts => parts.at(-1) === name && (parts.length === 1 || parts.slice(0, -1).join('.') === alias));
    const names = object.columns.map(({ name }) => name);
    return { object, columns: readsAllColumns ? names : names.filter(name => isRead(foldCase(name))) };
  });
}

/** Walks a tree. `cteNames` are the queries of WITH that are in scope: they shadow tables. */
function visit(node: TreeNode, select: SelectStatement, cteNames: ReadonlySet<string>, visitor: Visitor): void {
  switch (node.type) {
    case 'tableRef': {
      const { table, ...rest } = node as TableRef;
      if (table.type === 'qualifiedName') visitor.table(node as TableRef & { table: QualifiedName }, select, cteNames);
      else visit(table, select, cteNames, visitor);
      visitChildren(rest, select, cteNames, visitor);
      return;
    }
    case 'select': {
      const { with: queries = [], ...rest } = node as SelectStatement;
      let names = cteNames;
      for (const { name, query } of queries) {
        visit(query, select, names, visitor);
        names = new Set([...names, foldCase(name)]);
      }
      visitChildren(rest, node as SelectStatement, names, visitor);
      return;
    }
    case 'qualifiedName':
      visitor.column?.((node as QualifiedName).parts);
      return;
    default:
      visitChildren(node, select, cteNames, visitor);
  }
}

function visitChildren(node: object, ...context: [SelectStatement, ReadonlySet<string>, Visitor]): void {
  for (const child of childrenOf(node)) visit(child, ...context);
}
