/*!
 * Finds the columns of a query, their types as far as known, and the designated timestamp. If a query has several errors, QuestDB's
 * first error is reported. QuestDB checks the subqueries in WHERE, then the sources, then the query itself.
 */
import type { Expression, QualifiedName, SelectItem, SelectStatement } from '@questdb/sql-parser';
import { isTimestamp } from '@sqlpipe/ddl';
import { DuplicateColumnError, missingError, RejectionError } from '@sqlpipe/ddl/parser';
import { isSameName } from '@sqlpipe/sql';
import type { Catalogue } from '../catalogue.js';
import type { StoredColumn } from '../catalogue-objects.js';
import { childrenOf, type ParsedQuery } from '../parse/parse-query.js';
import {
  chooseAlias,
  findAliasPosition,
  hasAggregate,
  inferFunctionType,
  inferType,
  mayHaveAggregate,
  nameOfItem,
  TakenNames,
  unifyTypes,
} from './expressions.js';
import { listTableRefs, QueryScope, type Source, type SubquerySource, type TableRef } from './query-scope.js';

interface Field {
  readonly name: string;
  readonly type: string | undefined;
}

/** What a query returns. */
export interface Relation {
  readonly fields: readonly Field[];
  readonly timestamp?: string | undefined;
  /** Whether there may be further columns, for example of an unknown function. */
  readonly hasUnknownColumns?: boolean;
}

type AliasedRelation = Relation & { readonly alias: string | undefined };

type Pivot = NonNullable<SelectStatement['pivot']>;

/** A limit of this engine, not of QuestDB: each nested `SELECT * FROM a JOIN a` doubles the number of columns. */
const MAX_COLUMNS = 20_000;

const tooManyColumnsError = (position: number): RejectionError =>
  new RejectionError(position, `a query of more than ${MAX_COLUMNS} columns is not supported`);

/** Finds the columns that a query returns. @throws RejectionError, for example for an unknown table */
export function analyzeRelation(query: ParsedQuery, catalogue: Catalogue): Relation {
  return new Analysis(query).analyze(query.select, new QueryScope(query, catalogue));
}

class Analysis {
  /** A query of WITH is analyzed when a FROM names it. QuestDB reports no errors in an unused query of WITH (observed on 9.3.4). */
  readonly #relations = new WeakMap<SubquerySource, Relation>();
  /** The WHERE of a subquery is analyzed before the subquery itself, and only once. */
  readonly #filtersAnalyzed = new WeakSet<SelectStatement>();

  constructor(readonly query: ParsedQuery) {}

  /** @param unionFields the columns of the preceding queries of a union, which ORDER BY may name */
  analyze(select: SelectStatement, outer: QueryScope, unionFields: readonly Field[] = []): Relation {
    this.#analyzeFilters(select, outer);
    const queryScope = outer.enter(select);
    const first = this.#analyzeSelect(select, queryScope, unionFields);
    const order = select.setOperations?.at(-1)?.select.orderBy;
    const union = (select.setOperations ?? []).reduce((left, { operator, select: next }) => {
      const right = this.analyze(next, queryScope, left.fields);
      if (!left.hasUnknownColumns && !right.hasUnknownColumns && left.fields.length !== right.fields.length)
        throw this.query.rejection('queries have different number of columns', next);
      // UNION turns two SYMBOL columns into a STRING. The other set operations do not.
      const unify = (a: string | undefined, b: string | undefined) =>
        operator === 'UNION' && a === 'SYMBOL' && b === 'SYMBOL' ? 'STRING' : unifyTypes(a, b);
      return {
        ...(left.hasUnknownColumns && { hasUnknownColumns: true }),
        ...(operator !== 'UNION' && { timestamp: left.timestamp }),
        fields: left.fields.map((field, i) => ({ ...field, type: unify(field.type, right.fields[i]?.type) })),
      };
    }, first);
    return order ? { ...union, timestamp: findSortTimestamp(order, select, union.fields) } : union;
  }

  /** QuestDB compiles the subqueries in WHERE before all other queries, from the outermost WHERE inwards (observed on 9.3.4). */
  #analyzeFilters(select: SelectStatement, outer: QueryScope): void {
    if (this.#filtersAnalyzed.has(select)) return;
    this.#filtersAnalyzed.add(select);
    const queryScope = outer.enter(select);
    if (select.where) this.#analyzeSubqueries([select.where], queryScope);
    for (const source of queryScope.sourcesOf(select))
      if ('select' in source) this.#analyzeFilters(source.select, source.scope);
    for (const { select: next } of select.setOperations ?? []) this.#analyzeFilters(next, queryScope);
  }

  #analyzeSelect(select: SelectStatement, queryScope: QueryScope, unionFields: readonly Field[]): Relation {
    const tables = listTableRefs(select).map(ref => this.#analyzeTableRef(ref, queryScope));
    // With PIVOT, only WHERE refers to the columns of the tables. All other clauses refer to the columns of the pivoted result.
    const tableScope = new ColumnScope(queryScope, tables);
    this.#rejectMisusedSampling(select);
    const sources = select.pivot ? [this.#analyzePivot(select.pivot, tableScope)] : tables;
    const columnScope = new ColumnScope(queryScope, sources);
    const fields = this.#analyzeSelectList(select, columnScope);
    const { where: _, setOperations: __, ...rest } = select;
    this.#analyzeSubqueries(rest, queryScope);
    if (select.where) tableScope.inferType(select.where);
    const { timestamp, partitionBy = [] } = select.latestOn ?? {};
    for (const name of timestamp ? [timestamp, ...partitionBy] : partitionBy) columnScope.rejectUnknown(name);
    for (const expression of select.groupBy ?? []) columnScope.inferType(expression, fields);
    const sortAliases = [...fields, ...unionFields];
    for (const { expression } of select.orderBy ?? []) columnScope.inferType(expression, sortAliases);
    const hasStar = select.columns.some(item => item.type !== 'selectItem');
    return {
      fields,
      timestamp: findTimestamp(select, sources, fields),
      hasUnknownColumns: hasStar && sources.some(source => source.hasUnknownColumns),
    };
  }

  /** As in QuestDB, `timestamp(…)` has an effect only after a query in parentheses. */
  #analyzeTableRef(ref: TableRef, queryScope: QueryScope): AliasedRelation {
    const source = queryScope.sourceOf(ref);
    const { alias = 'name' in source ? source.name : undefined, timestampDesignation: timestamp } = ref;
    const isDesignated = timestamp !== undefined && 'select' in source && source.name === undefined;
    return { ...this.#analyzeSource(source), alias, ...(isDesignated && { timestamp }) };
  }

  #analyzeSource(source: Source): Relation {
    if ('function' in source)
      return source.function.toLowerCase() === 'long_sequence' ? { fields: [{ name: 'x', type: 'LONG' }] } : OPAQUE;
    if ('select' in source) {
      const relation = this.#relations.get(source) ?? this.analyze(source.select, source.scope);
      this.#relations.set(source, relation);
      return relation;
    }
    const { name, start, object } = source;
    // The columns of system catalogues, and of functions without parentheses such as `FROM tables`, are not known here.
    if (!object && (/^(?:pg_catalog|information_schema)\./i.test(name) || BUILT_IN.has(name))) return OPAQUE;
    if (!object) throw missingError(start, name);
    // QuestDB adds the position in the view's query to the start of this query, although the sum is meaningless.
    if (object.kind === 'view' && object.rejection)
      throw new RejectionError(this.query.start + object.rejection.position, object.rejection.reason);
    const fields = object.columns.map((column: StoredColumn) =>
      column.isGuess ? { ...column, type: undefined } : column,
    );
    return { fields, timestamp: object.timestamp, hasUnknownColumns: object.columns.length === 0 };
  }

  #rejectMisusedSampling(select: SelectStatement): void {
    const { columns, groupBy, sampleBy } = select;
    if (!sampleBy) return;
    const star = columns.find(item => item.type === 'star');
    const starProblem = 'wildcard column select is not allowed in sample-by queries';
    // The parser keeps no position for a star that comes first.
    if (star && star === columns[0]) throw this.query.rejection(starProblem, select, 'selectList');
    if (star) throw this.query.rejection(starProblem, star);
    if (groupBy)
      throw this.query.rejection('SELECT query must not contain both GROUP BY and SAMPLE BY', groupBy[0] ?? select);
    if (!columns.some(mayHaveAggregate)) {
      const position = this.query.positionOf(sampleBy, 'DurationLiteral') || this.query.positionOf(sampleBy);
      throw new RejectionError(position, "at least one aggregation function must be present in 'select' clause");
    }
  }

  #analyzeSelectList(select: SelectStatement, columnScope: ColumnScope): SelectedField[] {
    const fields: SelectedField[] = [];
    const taken = new TakenNames();
    // An expression may name those before it. When QuestDB chooses a name for an expression, it ignores the columns of `*`.
    const expressionFields: Field[] = [];
    const takenByExpressions = new TakenNames();
    for (const item of select.columns) {
      let columns: readonly Field[];
      if (item.type !== 'selectItem') columns = columnScope.columnsOf(starQualifier(item));
      else {
        const { expression, alias } = item;
        const type = columnScope.inferType(expression, expressionFields);
        if (alias !== undefined && takenByExpressions.has(alias))
          throw new DuplicateColumnError(alias, findAliasPosition(this.query, item));
        const name = alias ?? chooseAlias(expression, columnScope.queryScope, takenByExpressions);
        takenByExpressions.add(name);
        columns = [{ name, type }];
        expressionFields.push({ name, type });
      }
      if (fields.length + columns.length > MAX_COLUMNS) throw tooManyColumnsError(this.query.positionOf(item));
      for (const { name, type } of columns) {
        const unused = taken.findUnused(name, n => `${name}${n}`);
        taken.add(unused);
        fields.push({ name: unused, type, item });
      }
    }
    return fields;
  }

  /** `PIVOT (avg(price) FOR sym IN ('A', 'B') GROUP BY day)` returns the columns `day`, `A` and `B`. */
  #analyzePivot({ aggregations, pivots, groupBy = [] }: Pivot, tableScope: ColumnScope): AliasedRelation {
    const toField = (expression: Expression, alias?: string): Field => ({
      name: alias ?? chooseAlias(expression, tableScope.queryScope, new TakenNames()),
      type: tableScope.inferType(expression),
    });
    const results = aggregations.map(({ expression, alias }) => toField(expression, alias));
    const hasShortNames = results.length === 1 && aggregations[0]?.alias === undefined;
    const values = pivots.map(({ in: { values = [] } }) =>
      values.map(({ expression }) => this.query.text(expression).replace(/^'(.*)'$/s, '$1')),
    );
    if (values.reduce((count, texts) => count * texts.length, results.length) > MAX_COLUMNS)
      throw tooManyColumnsError(0);
    const combinations = values.reduce((prefixes, texts) =>
      prefixes.flatMap(prefix => texts.map(text => `${prefix}_${text}`)),
    );
    const fields = combinations.flatMap(combination =>
      results.map(({ name, type }) => ({ name: hasShortNames ? combination : `${combination}_${name}`, type })),
    );
    return {
      alias: undefined,
      fields: [...groupBy.map(expression => toField(expression)), ...fields],
      // With `FOR sym IN (SELECT …)`, the columns are not known.
      hasUnknownColumns: pivots.some(pivot => pivot.in.select),
    };
  }

  /** Queries in FROM and WITH are analyzed elsewhere. */
  #analyzeSubqueries(node: object, queryScope: QueryScope): void {
    for (const child of childrenOf(node)) {
      const { type, query } = child as { type?: string; query?: SelectStatement };
      if (type === 'subquery' && query) this.analyze(query, queryScope);
      else if (type !== 'tableRef' && type !== 'cte') this.#analyzeSubqueries(child, queryScope);
    }
  }
}

/** The columns that a query may refer to, and how QuestDB finds one by its name. */
class ColumnScope {
  constructor(
    readonly queryScope: QueryScope,
    private readonly sources: readonly AliasedRelation[],
  ) {}

  inferType(expression: Expression, aliases: readonly Field[] = []): string | undefined {
    return inferType(expression, this.queryScope, (parts, column) => this.#findColumnType(parts, column, aliases));
  }

  /** Rejects an unknown column of LATEST ON. There, a column that several sources have is not ambiguous. */
  rejectUnknown(name: QualifiedName): void {
    const fields = this.sources.flatMap(source => source.fields);
    if (name.parts.length > 1 || !fields.some(field => isSameName(field.name, name.parts[0])))
      this.#findColumnType(name.parts, name, []);
  }

  /** A column hides an alias of the same name. If several sources have the column, it is ambiguous, unless an alias has its name. */
  #findColumnType(parts: readonly string[], expression: object, aliases: readonly Field[]): string | undefined {
    const { query } = this.queryScope;
    const name = parts.at(-1) ?? '';
    const qualifier = parts.length > 1 ? parts.slice(0, -1).join('.') : undefined;
    const sources = this.sources.filter(({ alias }) => qualifier === undefined || isSameName(alias, qualifier));
    if (qualifier !== undefined && sources.length === 0)
      throw query.rejection('Invalid table name or alias', expression);
    const isNamed = (field: Field) => isSameName(field.name, name);
    const matchingSources = sources.filter(({ fields }) => fields.some(isNamed));
    if (qualifier === undefined && matchingSources.length > 1 && !aliases.some(isNamed))
      throw query.rejection(`Ambiguous column [name=${name}]`, expression);
    const field =
      matchingSources[0]?.fields.find(isNamed) ?? (qualifier === undefined ? aliases.find(isNamed) : undefined);
    if (field) return field.type;
    if (sources.some(source => source.hasUnknownColumns)) return undefined;
    // A function without arguments may be called without parentheses.
    const type = qualifier === undefined ? inferFunctionType(name, []) : undefined;
    if (type !== undefined) return type;
    throw query.rejection(`Invalid column: ${parts.join('.')}`, expression);
  }

  columnsOf(qualifier: string | undefined): readonly Field[] {
    if (qualifier === undefined) return this.sources.flatMap(source => source.fields);
    return this.sources.find(({ alias }) => isSameName(alias, qualifier))?.fields ?? [];
  }
}

type SelectedField = Field & { readonly item?: SelectItem };

const starQualifier = (item: SelectItem): string | undefined =>
  item.type === 'qualifiedStar' ? item.qualifier.parts.at(-1) : undefined;

/** Without ORDER BY, a result keeps the timestamp of the first source, if the query selects it. GROUP BY and DISTINCT do not keep it. */
function findTimestamp(
  select: SelectStatement,
  sources: readonly AliasedRelation[],
  fields: readonly SelectedField[],
): string | undefined {
  if (select.orderBy) return findSortTimestamp(select.orderBy, select, fields);
  const [first] = sources;
  const designated = first?.timestamp;
  if (designated === undefined) return undefined;
  const isGrouped = select.groupBy !== undefined || select.columns.some(hasAggregate) || select.distinct;
  if (isGrouped && !select.sampleBy) return undefined;
  const index = select.columns.findIndex(item => isColumnItem(item, designated, first?.alias));
  if (index >= 0) return itemName(select, index, fields);
  if (select.columns.some(item => item.type === 'star')) return designated;
  const star = select.columns.find(item => isSameName(first?.alias, starQualifier(item)));
  const designatedIndex = first?.fields.findIndex(({ name }) => isSameName(name, designated)) ?? -1;
  return star && fields.filter(({ item }) => item === star)[designatedIndex]?.name;
}

/** With ORDER BY, the first sort column becomes the timestamp if it has a timestamp type and is ascending (observed on 9.3.4). */
function findSortTimestamp(
  [order]: NonNullable<SelectStatement['orderBy']>,
  select: SelectStatement,
  fields: readonly Field[],
): string | undefined {
  if (!order || order.direction === 'desc') return undefined;
  const { expression } = order;
  const findField = (name: string | undefined) => fields.find(field => isSameName(field.name, name));
  let field: Field | undefined;
  if (expression.type === 'literal') field = fields[Number(expression.value) - 1];
  else if (expression.type === 'column') {
    const [name = '', qualifier] = expression.name.parts.toReversed();
    const index = select.columns.findIndex(item => isColumnItem(item, name, qualifier));
    field =
      (qualifier === undefined ? findField(name) : undefined) ??
      findField(itemName(select, index, fields)) ??
      findField(name);
  }
  return field?.type !== undefined && isTimestamp(field.type) ? field.name : undefined;
}

export function isColumnItem(item: SelectItem, name: string, alias: string | undefined): boolean {
  if (item.type !== 'selectItem' || item.expression.type !== 'column') return false;
  const { parts } = item.expression.name;
  return isSameName(parts.at(-1), name) && (parts.length === 1 || isSameName(parts[0], alias));
}

function itemName(select: SelectStatement, index: number, fields: readonly Field[]): string | undefined {
  const isAfterStar = select.columns.slice(0, index).some(item => item.type !== 'selectItem');
  const item = select.columns[index];
  if (!isAfterStar) return fields[index]?.name;
  return item && nameOfItem(item);
}

const OPAQUE: Relation = { fields: [], hasUnknownColumns: true };

const BUILT_IN: ReadonlySet<string> = new Set([
  ...['tables', 'views', 'materialized_views', 'all_tables', 'wal_tables', 'functions', 'keywords', 'query_activity'],
  ...['attribute', 'class', 'database', 'description', 'index', 'inherits', 'locks', 'namespace', 'proc', 'range'].map(
    name => `pg_${name}`,
  ),
  ...['pg_attrdef', 'pg_roles', 'pg_type'],
]);
