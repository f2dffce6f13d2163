/*! What names in a query mean: queries of WITH, variables of DECLARE, tables and views. Finds what the query reads. */
import type { Expression, QualifiedName, SelectStatement } from '@questdb/sql-parser';
import { RejectionError } from '@sqlpipe/ddl/parser';
import { isSameName, type LocatedName, NameMap } from '@sqlpipe/sql';
import type { Catalogue } from '../catalogue.js';
import type { CatalogueObject } from '../catalogue-objects.js';
import { childrenOf, type ParsedQuery, parseQueryText, type TreeNode } from '../parse/parse-query.js';
import { requirePartialReadAccess, type Session } from '../session.js';
import { hasAggregate } from './expressions.js';

export type TableRef = NonNullable<SelectStatement['from']>[number];

/** A query in the place of a table. A query of WITH is the same object wherever it is used. */
export interface SubquerySource {
  readonly select: SelectStatement;
  readonly scope: QueryScope;
  readonly name?: string;
}

/** A query, a table, or a function. Of a function, and of a variable that is not declared, only the name is known. */
export type Source =
  | SubquerySource
  | (LocatedName & { readonly object: CatalogueObject | undefined })
  | { readonly function: string };

export const listTableRefs = ({ from = [] }: SelectStatement): TableRef[] => from.flatMap(flattenJoins);

const flattenJoins = (ref: TableRef): TableRef[] => [
  ref,
  ...(ref.joins ?? []).flatMap(({ table }) => flattenJoins(table)),
];

/** What WITH and DECLARE of one query define. Each query of WITH can use those before it. */
interface LocalNames {
  readonly queries: NameMap<SubquerySource & { readonly index: number }>;
  readonly variables: NameMap<Expression>;
}

/** Maximum number of lookups of variables per query. Variables that contain variables can make a short query very long. */
const MAX_LOOKUPS = 10_000;

export class QueryScope {
  readonly #inner = new WeakMap<SelectStatement, QueryScope>();

  /** The optional parameters are for `enter`. */
  constructor(
    readonly query: ParsedQuery,
    readonly catalogue: Catalogue,
    private readonly outer?: QueryScope,
    private readonly ownNames: LocalNames = { queries: new NameMap(), variables: new NameMap() },
    private readonly visibleQueryCount = 0,
    private readonly lookups = { left: MAX_LOOKUPS },
  ) {}

  enter(select: SelectStatement): QueryScope {
    const known = this.#inner.get(select);
    if (known) return known;
    const { declare, with: queries = [] } = select;
    const variables = declare?.assignments.map(({ name, value }) => [name, value] as const);
    const own: LocalNames = { queries: new NameMap(), variables: new NameMap(variables) };
    const scopeAfter = (count: number) => new QueryScope(this.query, this.catalogue, this, own, count, this.lookups);
    for (const [index, { name, query }] of queries.entries())
      own.queries.set(name, { name, select: query, scope: scopeAfter(index), index });
    const inner = scopeAfter(queries.length);
    this.#inner.set(select, inner);
    return inner;
  }

  /** @throws RejectionError after too many lookups */
  findVariable(name: string): Expression | undefined {
    if (this.lookups.left-- > 0) return this.findDeclared(name);
    throw new RejectionError(0, 'variables of DECLARE stand for too many expressions');
  }

  private findDeclared(name: string): Expression | undefined {
    return this.ownNames.variables.get(name) ?? this.outer?.findDeclared(name);
  }

  private findCommonTable(name: string): SubquerySource | undefined {
    const found = this.ownNames.queries.get(name);
    return found && found.index < this.visibleQueryCount ? found : this.outer?.findCommonTable(name);
  }

  sourcesOf(select: SelectStatement): Source[] {
    return listTableRefs(select).map(ref => this.sourceOf(ref));
  }

  sourceOf(ref: TableRef): Source {
    const table = this.#withVariable(ref.table);
    if (table.type === 'select') return { select: table, scope: this };
    if (table.type !== 'qualifiedName') return { function: table.type === 'tableFunctionCall' ? table.name : '' };
    const [first, ...rest] = table.parts;
    const isPublic = first?.toLowerCase() === 'public' && rest.length > 0;
    const name = (isPublic ? rest : table.parts).join('.');
    if (name.startsWith('@')) return { function: name };
    // A name in single quotes has no node of its own. Such a name, or one after a schema, is never a query of WITH (observed on 9.3.4).
    const text = this.query.text(table);
    const common = text === '' || isPublic ? undefined : this.findCommonTable(name);
    const { catalogue } = this;
    if (common && catalogue.find(name)?.kind !== 'view') return common;
    const start = this.query.positionOf(text === '' ? ref : table) + (isPublic ? text.indexOf('.') + 1 : 0);
    return {
      name,
      start,
      get object() {
        return catalogue.compileAndFind(name);
      },
    };
  }

  /** Replaces `@t` by the query or table name that DECLARE gives it, in parentheses or not. */
  #withVariable(table: TableRef['table']): TableRef['table'] {
    const name = table.type === 'qualifiedName' ? table.parts.join('.') : '';
    let value = name.startsWith('@') ? this.findVariable(name.slice(1)) : undefined;
    while (value?.type === 'paren' || value?.type === 'variable')
      value = value.type === 'paren' ? value.expression : this.findVariable(value.name);
    if (value?.type === 'subquery') return value.query;
    if (value?.type === 'column') return value.name;
    const text = value?.type === 'literal' ? value.value : undefined;
    return typeof text === 'string' ? { type: 'qualifiedName', parts: [text] } : table;
  }
}

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
  const tables: { object: CatalogueObject; alias: string; items: SelectStatement['columns'] }[] = [];
  const columns: (readonly string[])[] = [];
  const visited = new WeakSet<TreeNode>();

  const visit = (node: TreeNode, scope: QueryScope, items: SelectStatement['columns']): void => {
    if (visited.has(node)) return;
    visited.add(node);
    const visitChildren = (parent: object, inner = scope, ownItems = items): void => {
      for (const child of childrenOf(parent)) visit(child, inner, ownItems);
    };
    if (node.type === 'qualifiedName') columns.push((node as QualifiedName).parts);
    else if (node.type === 'select') {
      // What WITH and DECLARE define is visited where it is used.
      const { with: _, declare: __, ...rest } = node as SelectStatement;
      visitChildren(rest, scope.enter(node as SelectStatement), rest.columns);
    } else if (node.type === 'tableRef') {
      const { table, ...rest } = node as TableRef;
      const source = scope.sourceOf(node as TableRef);
      if ('select' in source) visit(source.select, source.scope, []);
      else if ('function' in source) visitChildren(table);
      else if (source.object) tables.push({ object: source.object, alias: rest.alias ?? source.name, items });
      visitChildren(rest);
    } else if (node.type === 'variable') {
      const value = scope.findVariable((node as { type: string; name: string }).name);
      if (value) visit(value, scope, items);
    } else visitChildren(node);
  };

  visit(query.select, new QueryScope(query, catalogue), []);
  return tables.map(({ object, alias, items }) => {
    const isOfTable = (parts: readonly string[]) => isSameName(parts.join('.'), alias);
    const readsAll = items.some(
      item => item.type === 'star' || (item.type === 'qualifiedStar' && isOfTable(item.qualifier.parts)),
    );
    const isRead = (name: string) =>
      readsAll ||
      columns.some(parts => isSameName(parts.at(-1), name) && (parts.length === 1 || isOfTable(parts.slice(0, -1))));
    return { object, columns: object.columns.map(({ name }) => name).filter(isRead) };
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

  const isEmptyQuery = (each: ParsedQuery): boolean => isEmptySelect(each.select, new QueryScope(each, catalogue));

  return isEmptyQuery(query);
}
