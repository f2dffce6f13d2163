/*! Which tables and views a query names, found in its syntax tree: anywhere a name may denote a table. */

import type { QualifiedName, SelectStatement } from '@questdb/sql-parser';
import { RejectionError } from '@sqlpipe/ddl/grammar';
import { isBuiltIn } from './analysis/relation.js';
import type { CatalogObject } from './objects.js';
import type { Query } from './parser/query.js';
import { childrenOf, type TreeNode } from './parser/tree.js';
import type { ServerCatalog } from './server-catalog.js';
import { requireReadable, type Session } from './session.js';

type TableRef = NonNullable<SelectStatement['from']>[number];

/** What a walk meets: tables with the query they stand in, and names of columns. */
interface Visitor {
  table(ref: TableRef & { table: QualifiedName }, select: SelectStatement, hidden: ReadonlySet<string>): void;
  column?(parts: readonly string[]): void;
}

/**
 * The tables and views a query refers to, each once, as they are called in the query.
 * @throws RejectionError for the first that does not exist
 */
export function findQueryReferences({ select, at }: Query, catalog: ServerCatalog): string[] {
  const found = new Map<string, string>();
  visit(select, select, new Set(), {
    table(ref, _, hidden) {
      const name = nameOf(ref.table);
      if (hidden.has(name.toLowerCase()) || found.has(name.toLowerCase())) return;
      const object = catalog.find(name);
      if (!object && isBuiltIn(name)) return;
      if (!object) throw new RejectionError(at(ref.table), `table does not exist [table=${name}]`);
      found.set(name.toLowerCase(), object.name);
    },
  });
  return [...found.values()];
}

const nameOf = ({ parts }: QualifiedName): string =>
  parts.filter((part, i, { length }) => length === 1 || i > 0 || part.toLowerCase() !== 'public').join('.');

/** A query may only be run, and kept, by who may read every column that it names. @throws DenialError */
export function requireReadAccess(session: Session, query: Query): void {
  for (const { object, columns } of listReads(query, session.catalog)) {
    requireReadable(session, object.name);
    // Who may read one column may read the timestamp; of a view there are no columns to be granted.
    const asked = object.kind === 'view' ? [] : columns.filter(name => name !== object.timestamp);
    if (asked.length > 0) session.authorize('SELECT', object.name, asked);
  }
}

/** Each table and view that a query names, with the columns it reads there: too many where tables share a name. */
function listReads({ select }: Query, catalog: ServerCatalog): { object: CatalogObject; columns: string[] }[] {
  const tables: { object: CatalogObject; alias: string; whole: boolean }[] = [];
  const columns: (readonly string[])[] = [];
  visit(select, select, new Set(), {
    table(ref, { columns: items }, hidden) {
      const name = nameOf(ref.table);
      const object = hidden.has(name.toLowerCase()) ? undefined : catalog.find(name);
      const alias = (ref.alias ?? name).toLowerCase();
      const whole = items.some(
        item =>
          item.type === 'star' ||
          (item.type === 'qualifiedStar' && item.qualifier.parts.join('.').toLowerCase() === alias),
      );
      if (object) tables.push({ object, alias, whole });
    },
    column: parts => columns.push(parts.map(part => part.toLowerCase())),
  });
  return tables.map(({ object, alias, whole }) => {
    const isRead = (name: string) =>
      columns.some(parts => parts.at(-1) === name && (parts.length === 1 || parts.slice(0, -1).join('.') === alias));
    const names = object.columns.map(({ name }) => name);
    return { object, columns: whole ? names : names.filter(name => isRead(name.toLowerCase())) };
  });
}

/** Walks a tree, keeping the names that WITH gives to queries: those hide tables. */
function visit(node: TreeNode, select: SelectStatement, hidden: ReadonlySet<string>, visitor: Visitor): void {
  switch (node.type) {
    case 'tableRef': {
      const { table, ...rest } = node as TableRef;
      if (table.type === 'qualifiedName') visitor.table(node as TableRef & { table: QualifiedName }, select, hidden);
      else visit(table, select, hidden, visitor);
      visitBelow(rest, select, hidden, visitor);
      return;
    }
    case 'select': {
      const { with: queries = [], ...rest } = node as SelectStatement;
      let names = hidden;
      for (const { name, query } of queries) {
        visit(query, select, names, visitor);
        names = new Set([...names, name.toLowerCase()]);
      }
      visitBelow(rest, node as SelectStatement, names, visitor);
      return;
    }
    case 'qualifiedName':
      visitor.column?.((node as QualifiedName).parts);
      return;
    default:
      visitBelow(node, select, hidden, visitor);
  }
}

function visitBelow(node: object, ...around: [SelectStatement, ReadonlySet<string>, Visitor]): void {
  for (const child of childrenOf(node)) visit(child, ...around);
}
