/*! The tables and views that a query refers to, found in its syntax tree wherever a name may denote a table. */

import type { QualifiedName, SelectStatement } from '@questdb/sql-parser';
import { RejectionError } from '@sqlpipe/ddl/grammar';
import { isBuiltIn } from './analysis/relation.js';
import type { CatalogObject } from './objects.js';
import type { Query } from './parser/query.js';
import { childrenOf, type TreeNode } from './parser/tree.js';
import type { ServerCatalog } from './server-catalog.js';
import { requireReadable, type Session } from './session.js';

type TableRef = NonNullable<SelectStatement['from']>[number];

/** Called for each table, with the query that contains it, and for each column name. CTE names shadow tables. */
interface Visitor {
  table(ref: TableRef & { table: QualifiedName }, select: SelectStatement, cteNames: ReadonlySet<string>): void;
  column?(parts: readonly string[]): void;
}

/**
 * The tables and views that a query refers to, each once, as the catalog spells them.
 * @throws RejectionError for the first name that does not exist
 */
export function findQueryReferences({ select, positionOf }: Query, catalog: ServerCatalog): string[] {
  const references = new Map<string, string>();
  visit(select, select, new Set(), {
    table(ref, _, cteNames) {
      const name = nameOf(ref.table);
      if (cteNames.has(name.toLowerCase()) || references.has(name.toLowerCase())) return;
      const object = catalog.find(name);
      if (!object && isBuiltIn(name)) return;
      if (!object) throw new RejectionError(positionOf(ref.table), `table does not exist [table=${name}]`);
      references.set(name.toLowerCase(), object.name);
    },
  });
  return [...references.values()];
}

/** A table's name without the schema `public`. */
const nameOf = ({ parts }: QualifiedName): string =>
  parts.filter((part, i, { length }) => length === 1 || i > 0 || part.toLowerCase() !== 'public').join('.');

/** Requires the right to read every column that a query names, to execute or to store the query. @throws DenialError */
export function requireReadAccess(session: Session, query: Query): void {
  for (const { object, columns } of listReads(query, session.catalog)) {
    requireReadable(session, object.name);
    // The right to read one column includes the timestamp; single columns of a view cannot be granted.
    const columnsToCheck = object.kind === 'view' ? [] : columns.filter(name => name !== object.timestamp);
    if (columnsToCheck.length > 0) session.authorize('SELECT', object.name, columnsToCheck);
  }
}

/**
 * Each table and view that a query refers to, with the columns that it reads there. A column name without a table
 * counts for every table that has such a column.
 */
function listReads({ select }: Query, catalog: ServerCatalog): { object: CatalogObject; columns: string[] }[] {
  const tables: { object: CatalogObject; alias: string; readsAllColumns: boolean }[] = [];
  const columns: (readonly string[])[] = [];
  visit(select, select, new Set(), {
    table(ref, { columns: items }, cteNames) {
      const name = nameOf(ref.table);
      const object = cteNames.has(name.toLowerCase()) ? undefined : catalog.find(name);
      const alias = (ref.alias ?? name).toLowerCase();
      const readsAllColumns = items.some(
        item =>
          item.type === 'star' ||
          (item.type === 'qualifiedStar' && item.qualifier.parts.join('.').toLowerCase() === alias),
      );
      if (object) tables.push({ object, alias, readsAllColumns });
    },
    column: parts => columns.push(parts.map(part => part.toLowerCase())),
  });
  return tables.map(({ object, alias, readsAllColumns }) => {
    const isRead = (name: string) =>
      columns.some(parts => parts.at(-1) === name && (parts.length === 1 || parts.slice(0, -1).join('.') === alias));
    const names = object.columns.map(({ name }) => name);
    return { object, columns: readsAllColumns ? names : names.filter(name => isRead(name.toLowerCase())) };
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
        names = new Set([...names, name.toLowerCase()]);
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
