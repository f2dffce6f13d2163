/*! What names in a query mean: queries of WITH, variables of DECLARE, tables and views. */
import type { Expression, SelectStatement } from '@questdb/sql-parser';
import { RejectionError } from '@sqlpipe/ddl/parser';
import { type LocatedName, NameMap } from '@sqlpipe/sql';
import type { Catalogue } from '../catalogue.js';
import type { CatalogueObject } from '../catalogue-objects.js';
import type { ParsedQuery } from '../parse/parse-query.js';

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

  private constructor(
    readonly query: ParsedQuery,
    readonly catalogue: Catalogue,
    private readonly ownNames: LocalNames,
    private readonly visibleQueryCount: number,
    private readonly outer: QueryScope | undefined,
    private readonly lookups: { left: number },
  ) {}

  static around(query: ParsedQuery, catalogue: Catalogue): QueryScope {
    const nothing = { queries: new NameMap<never>(), variables: new NameMap<never>() };
    return new QueryScope(query, catalogue, nothing, 0, undefined, { left: MAX_LOOKUPS });
  }

  enter(select: SelectStatement): QueryScope {
    const known = this.#inner.get(select);
    if (known) return known;
    const { declare, with: queries = [] } = select;
    const variables = declare?.assignments.map(({ name, value }) => [name, value] as const);
    const own: LocalNames = { queries: new NameMap(), variables: new NameMap(variables) };
    const scopeAfter = (count: number) => new QueryScope(this.query, this.catalogue, own, count, this, this.lookups);
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
