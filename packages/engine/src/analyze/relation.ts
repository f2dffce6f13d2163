/*!
 * What a query returns, checked against the catalogue: its columns, their types as far as known, its designated
 * timestamp. Tables and columns are checked on the way, in the order of QuestDB's compiler: first the queries in WHERE, then the
 * sources of a query, then the query itself.
 */

import type { Expression, QualifiedName, SelectStatement } from '@questdb/sql-parser';
import { duplicateColumnError, isTimestamp, RejectionError } from '@sqlpipe/ddl/grammar';
import { isSameName } from '@sqlpipe/sql';
import type { Catalogue } from '../catalogue.js';
import type { StoredColumn } from '../catalogue-objects.js';
import { childrenOf, type Query, type TreeNode } from '../parse/parsed-query.js';
import { aliasPosition, columnAlias, TakenNames } from './column-names.js';
import { inferType, type Names, unifyTypes } from './expression.js';
import { functionType, isAggregate } from './functions.js';
import { listTableRefs, QueryScope, type Source, type SubquerySource, type TableRef } from './scope.js';

type Pivot = NonNullable<SelectStatement['pivot']>;
type SelectItem = SelectStatement['columns'][number];

export interface Field {
  readonly name: string;
  /** Undefined if it is not known. */
  readonly type: string | undefined;
}

export interface Relation {
  readonly fields: readonly Field[];
  readonly timestamp?: string | undefined;
  /** Whether the relation may have more columns, which are not known; such as the result of an unknown function. */
  readonly open?: boolean;
}

/** A column of a result, and the item of the select list that gives it. */
interface SelectedField extends Field {
  readonly item?: SelectItem;
}

/** A relation under the name it has in a query. */
interface AliasedRelation {
  readonly alias: string | undefined;
  readonly relation: Relation;
}

/** Maximum number of columns of a query. A short text can name many: each query over `a JOIN a` doubles their number. */
const maxColumns = 20_000;

const tooManyColumnsError = (position: number): RejectionError =>
  new RejectionError(position, `sqlserve does not store a query of more than ${maxColumns} columns`);

/**
 * The relation of a query.
 * @throws RejectionError for a table or column that does not exist, and for a misused SAMPLE BY
 */
export function analyzeRelation(query: Query, catalogue: Catalogue): Relation {
  return new Analysis(query, catalogue).relation(query.select, QueryScope.around(query, catalogue));
}

class Analysis {
  /** Of queries of WITH. Each is analyzed where it is used, and not at all otherwise (observed on 9.3.4). */
  readonly #relations = new WeakMap<SubquerySource, Relation>();
  readonly #withCheckedFilters = new WeakSet<SelectStatement>();

  constructor(
    readonly query: Query,
    readonly catalogue: Catalogue,
  ) {}

  /** `unionFields` are the columns of the union that the query is a part of: the union's ORDER BY refers to them. */
  relation(select: SelectStatement, outer: QueryScope, unionFields: readonly Field[] = []): Relation {
    this.#checkFilters(select, outer);
    const scope = outer.enter(select);
    const first = this.#analyzeSelect(select, scope, unionFields);
    const order = select.setOperations?.at(-1)?.select.orderBy;
    const union = (select.setOperations ?? []).reduce((left, { operator, select: next }) => {
      const right = this.relation(next, scope, left.fields);
      if (!left.open && !right.open && left.fields.length !== right.fields.length)
        throw new RejectionError(this.query.positionOf(next), 'queries have different number of columns');
      const type = operator === 'UNION' ? unifyRowTypes : unifyTypes;
      return {
        ...(left.open && { open: true }),
        ...(operator !== 'UNION' && { timestamp: left.timestamp }),
        fields: left.fields.map((field, i) => ({ ...field, type: type(field.type, right.fields[i]?.type) })),
      };
    }, first);
    return order ? { ...union, timestamp: findSortTimestamp(order, select, union.fields) } : union;
  }

  /** Checks the queries in WHERE. They come before all else, and those of the outermost WHERE first (observed on 9.3.4). */
  #checkFilters(select: SelectStatement, outer: QueryScope): void {
    if (this.#withCheckedFilters.has(select)) return;
    this.#withCheckedFilters.add(select);
    const scope = outer.enter(select);
    if (select.where) this.#visitSubqueries([select.where], scope);
    for (const ref of listTableRefs(select)) {
      const source = scope.sourceOf(ref);
      if ('select' in source) this.#checkFilters(source.select, source.scope);
    }
    for (const { select: next } of select.setOperations ?? []) this.#checkFilters(next, scope);
  }

  #analyzeSelect(select: SelectStatement, names: QueryScope, unionFields: readonly Field[]): Relation {
    const tables = new ColumnScope(
      names,
      listTableRefs(select).map(ref => this.#aliased(ref, names)),
    );
    this.#rejectMisusedSampling(select);
    const sources = select.pivot ? [this.#pivoted(select.pivot, tables)] : tables.sources;
    const scope = new ColumnScope(names, sources);
    const fields = this.#fields(select, scope);
    const { where: _, setOperations: __, ...rest } = select;
    this.#visitSubqueries(rest, names);
    if (select.where) inferType(select.where, tables.withAliases([]));
    const { timestamp, partitionBy = [] } = select.latestOn ?? {};
    for (const name of timestamp ? [timestamp, ...partitionBy] : partitionBy) scope.rejectUnknown(name);
    for (const expression of select.groupBy ?? []) inferType(expression, scope.withAliases(fields));
    const ordered = scope.withAliases([...fields, ...unionFields]);
    for (const { expression } of select.orderBy ?? []) inferType(expression, ordered);
    const hasStar = select.columns.some(item => item.type !== 'selectItem');
    return {
      fields,
      timestamp: findTimestamp(select, sources, fields),
      open: hasStar && sources.some(({ relation }) => relation.open),
    };
  }

  #aliased(ref: TableRef, scope: QueryScope): AliasedRelation {
    const source = scope.sourceOf(ref);
    const { alias = 'name' in source ? source.name : undefined, timestampDesignation: timestamp } = ref;
    const relation = this.#relationOf(source);
    const isDesignated = timestamp !== undefined && 'select' in source && source.name === undefined;
    return { alias, relation: isDesignated ? { ...relation, timestamp } : relation };
  }

  #relationOf(source: Source): Relation {
    if ('function' in source)
      return source.function.toLowerCase() === 'long_sequence' ? { fields: [{ name: 'x', type: 'LONG' }] } : open;
    if ('select' in source) {
      const relation = this.#relations.get(source) ?? this.relation(source.select, source.scope);
      this.#relations.set(source, relation);
      return relation;
    }
    const { name, position, object } = source;
    if (!object && isBuiltIn(name)) return open;
    if (!object) throw new RejectionError(position, `table does not exist [table=${name}]`);
    // QuestDB reports the position in the view's text, as if that text stood in the place of this query.
    if (object.kind === 'view' && object.invalid)
      throw new RejectionError(this.query.position + object.invalid.position, object.invalid.reason);
    const fields = object.columns.map((column: StoredColumn) =>
      column.isGuess ? { ...column, type: undefined } : column,
    );
    return { fields, timestamp: object.timestamp, open: object.columns.length === 0 };
  }

  #rejectMisusedSampling(select: SelectStatement): void {
    if (!select.sampleBy) return;
    const index = select.columns.findIndex(item => item.type === 'star');
    const star = select.columns[index];
    if (star) {
      // A star at the head of the list has no node of its own.
      const position = index === 0 ? this.query.positionOf(select, 'selectList') : this.query.positionOf(star);
      throw new RejectionError(position, 'wildcard column select is not allowed in sample-by queries');
    }
    if (select.groupBy) {
      const [first = select] = select.groupBy;
      throw new RejectionError(
        this.query.positionOf(first),
        'SELECT query must not contain both GROUP BY and SAMPLE BY',
      );
    }
    if (!select.columns.some(item => hasAggregate(item))) {
      const position =
        this.query.positionOf(select.sampleBy, 'DurationLiteral') || this.query.positionOf(select.sampleBy);
      throw new RejectionError(position, "at least one aggregation function must be present in 'select' clause");
    }
  }

  #fields(select: SelectStatement, scope: ColumnScope): SelectedField[] {
    const fields: SelectedField[] = [];
    const taken = new TakenNames();
    // Named items get unique names before the columns of a star are known.
    const named: Field[] = [];
    const takenByName = new TakenNames();
    for (const item of select.columns) {
      const isStar = item.type !== 'selectItem';
      const columns = isStar ? scope.columnsOf(starQualifier(item)) : [this.#field(item, scope, named, takenByName)];
      if (!isStar) named.push(...columns);
      if (fields.length + columns.length > maxColumns) throw tooManyColumnsError(this.query.positionOf(item));
      for (const { name, type } of columns) {
        const unused = taken.unused(name, n => `${name}${n}`);
        taken.add(unused);
        fields.push({ name: unused, type, item });
      }
    }
    return fields;
  }

  #field(
    item: Extract<SelectItem, { type: 'selectItem' }>,
    scope: ColumnScope,
    preceding: readonly Field[],
    taken: TakenNames,
  ): Field {
    const { expression, alias } = item;
    const names = scope.withAliases(preceding);
    const type = inferType(expression, names);
    if (alias !== undefined && taken.has(alias)) throw duplicateColumnError(alias, aliasPosition(this.query, item));
    const name = alias ?? columnAlias(expression, names, taken, this.catalogue.naming);
    taken.add(name);
    return { name, type };
  }

  /** The result of PIVOT: the columns that it groups by, then each aggregate for each combination of values. */
  #pivoted({ aggregations, pivots, groupBy = [] }: Pivot, tables: ColumnScope): AliasedRelation {
    const names = tables.withAliases([]);
    const field = (expression: Expression, alias?: string): Field => ({
      name: alias ?? columnAlias(expression, names, new TakenNames(), this.catalogue.naming),
      type: inferType(expression, names),
    });
    const results = aggregations.map(({ expression, alias }) => field(expression, alias));
    const hasShortNames = results.length === 1 && aggregations[0]?.alias === undefined;
    const values = pivots.map(({ in: { values = [] } }) =>
      values.map(({ expression }) => this.query.text(expression).replace(/^'(.*)'$/s, '$1')),
    );
    if (values.reduce((count, texts) => count * texts.length, results.length) > maxColumns)
      throw tooManyColumnsError(0);
    const combinations = values.reduce((prefixes, texts) =>
      prefixes.flatMap(prefix => texts.map(text => `${prefix}_${text}`)),
    );
    const fields = combinations.flatMap(combination =>
      results.map(({ name, type }) => ({ name: hasShortNames ? combination : `${combination}_${name}`, type })),
    );
    const relation = {
      fields: [...groupBy.map(expression => field(expression)), ...fields],
      // The values of a subquery are not known.
      open: pivots.some(pivot => pivot.in.select),
    };
    return { alias: undefined, relation };
  }

  /** Checks the queries inside expressions. */
  #visitSubqueries(node: object, scope: QueryScope): void {
    for (const child of childrenOf(node)) {
      const { type, query } = child as { type?: string; query?: SelectStatement };
      if (type === 'subquery' && query) this.relation(query, scope);
      else if (type !== 'tableRef' && type !== 'cte') this.#visitSubqueries(child, scope);
    }
  }
}

/** The common type of the rows of a UNION: symbols of two tables become strings. */
function unifyRowTypes(left: string | undefined, right: string | undefined): string | undefined {
  return left === 'SYMBOL' && right === 'SYMBOL' ? 'STRING' : unifyTypes(left, right);
}

const open: Relation = { fields: [], open: true };

/** Whether a name is a catalogue function of every database that can be called without parentheses. */
const isBuiltIn = (name: string): boolean => /^(?:pg_catalog|information_schema)\./i.test(name) || builtIn.has(name);

const builtIn = new Set([
  ...['tables', 'views', 'materialized_views', 'all_tables', 'wal_tables', 'functions', 'keywords', 'query_activity'],
  ...['attribute', 'class', 'database', 'description', 'index', 'inherits', 'locks', 'namespace', 'proc', 'range'].map(
    name => `pg_${name}`,
  ),
  ...['pg_attrdef', 'pg_roles', 'pg_type'],
]);

/** The columns that one query may refer to. */
class ColumnScope {
  readonly query: Query;

  constructor(
    readonly names: QueryScope,
    readonly sources: readonly AliasedRelation[],
  ) {
    this.query = names.query;
  }

  /** The names in scope, including the aliases that the query itself defines. */
  withAliases(aliases: readonly Field[]): Names {
    return {
      query: this.query,
      column: (parts, expression) => this.#column(parts, expression, aliases),
      variable: name => this.names.variable(name),
    };
  }

  /** Rejects an unknown column of LATEST ON. If several tables have the column, that of the first one is meant. */
  rejectUnknown(name: QualifiedName): void {
    const fields = this.sources.flatMap(({ relation }) => relation.fields);
    if (name.parts.length > 1 || !fields.some(field => isSameName(field.name, name.parts[0])))
      this.#column(name.parts, name, []);
  }

  #column(parts: readonly string[], expression: object, aliases: readonly Field[]): string | undefined {
    const name = parts.at(-1) ?? '';
    const qualifier = parts.length > 1 ? parts.slice(0, -1).join('.') : undefined;
    const sources = this.sources.filter(({ alias }) => qualifier === undefined || isSameName(alias, qualifier));
    if (qualifier !== undefined && sources.length === 0)
      throw new RejectionError(this.query.positionOf(expression), 'Invalid table name or alias');
    const holders = sources.filter(({ relation }) => relation.fields.some(field => isSameName(field.name, name)));
    if (qualifier === undefined && holders.length > 1 && !aliases.some(alias => isSameName(alias.name, name)))
      throw new RejectionError(this.query.positionOf(expression), `Ambiguous column [name=${name}]`);
    const field = [...sources.flatMap(({ relation }) => relation.fields), ...(qualifier ? [] : aliases)].find(field =>
      isSameName(field.name, name),
    );
    if (field) return field.type;
    if (sources.some(({ relation }) => relation.open)) return;
    // A function without arguments may be called without parentheses.
    const type = qualifier === undefined ? functionType(name, []) : undefined;
    if (type !== undefined) return type;
    throw new RejectionError(this.query.positionOf(expression), `Invalid column: ${parts.join('.')}`);
  }

  /** The columns of one table, or of all. */
  columnsOf(qualifier: string | undefined): readonly Field[] {
    if (qualifier === undefined) return this.sources.flatMap(({ relation }) => relation.fields);
    return this.sources.find(({ alias }) => isSameName(alias, qualifier))?.relation.fields ?? [];
  }
}

/** The table of `t.*`; undefined for `*`. */
const starQualifier = (item: SelectItem): string | undefined =>
  item.type === 'qualifiedStar' ? item.qualifier.parts.at(-1) : undefined;

/** Whether a select item calls an aggregate function, other than as a window function. */
export function hasAggregate(node: TreeNode): boolean {
  const { type, name, over } = node as { type?: string; name?: string; over?: unknown };
  if (type === 'subquery') return false;
  if (type === 'function' && typeof name === 'string' && isAggregate(name) && !over) return true;
  return childrenOf(node).some(hasAggregate);
}

/** The designated timestamp of a result: that of the first source, if it is selected and the rows keep their order. */
function findTimestamp(
  select: SelectStatement,
  sources: readonly AliasedRelation[],
  fields: readonly SelectedField[],
): string | undefined {
  if (select.orderBy) return findSortTimestamp(select.orderBy, select, fields);
  const [first] = sources;
  const designated = first?.relation.timestamp;
  if (designated === undefined) return;
  const grouped = select.groupBy !== undefined || select.columns.some(hasAggregate) || select.distinct;
  if (grouped && !select.sampleBy) return;
  const index = select.columns.findIndex(item => isColumn(item, designated, first?.alias));
  if (index >= 0) return itemName(select, index, fields);
  if (select.columns.some(item => item.type === 'star')) return designated;
  const star = select.columns.find(item => isSameName(first?.alias, starQualifier(item)));
  const column = first?.relation.fields.findIndex(({ name }) => isSameName(name, designated)) ?? -1;
  return star && fields.filter(({ item }) => item === star)[column]?.name;
}

/** The column that rows are sorted by is the designated timestamp, if it is a timestamp (observed on 9.3.4). */
function findSortTimestamp(
  [order]: NonNullable<SelectStatement['orderBy']>,
  select: SelectStatement,
  fields: readonly Field[],
): string | undefined {
  if (!order || order.direction === 'desc') return;
  const { expression } = order;
  const named = (name: string | undefined) => fields.find(field => isSameName(field.name, name));
  let field: Field | undefined;
  if (expression.type === 'literal') field = fields[Number(expression.value) - 1];
  else if (expression.type === 'column') {
    const [name = '', qualifier] = expression.name.parts.toReversed();
    const index = select.columns.findIndex(item => isColumn(item, name, qualifier));
    field =
      (qualifier === undefined ? named(name) : undefined) ?? named(itemName(select, index, fields)) ?? named(name);
  }
  return field?.type !== undefined && isTimestamp(field.type) ? field.name : undefined;
}

function isColumn(item: SelectItem, name: string, alias: string | undefined): boolean {
  if (item.type !== 'selectItem' || item.expression.type !== 'column') return false;
  const { parts } = item.expression.name;
  return isSameName(parts.at(-1), name) && (parts.length === 1 || isSameName(parts[0], alias));
}

/** The name of a select item's column; it is found by the item's index if no star precedes the item. */
function itemName(select: SelectStatement, index: number, fields: readonly Field[]): string | undefined {
  const stars = select.columns.slice(0, index).some(item => item.type !== 'selectItem');
  const item = select.columns[index];
  if (!stars) return fields[index]?.name;
  return item?.type === 'selectItem'
    ? (item.alias ?? (item.expression.type === 'column' ? item.expression.name.parts.at(-1) : undefined))
    : undefined;
}
