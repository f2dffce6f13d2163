/*!
 * Rejects queries that a materialized view cannot have. `requireValidBase` makes the checks of QuestDB's parser. Then
 * `analyzeMaterializedView` makes those of its compiler.
 */
import type { Expression, QualifiedName, SelectStatement as Select } from '@questdb/sql-parser';
import {
  defaultPartition,
  isTimestamp,
  isValidColumnName,
  type MaterializedViewDefinition,
  type PartitionUnit,
  type Refresh,
  TIMESTAMP,
} from '@sqlpipe/ddl';
import {
  type Body,
  type CreateOf,
  type CreateStatement,
  missingError,
  RejectionError,
  rejectInvalidTimeZone,
  rejectLongPeriod,
} from '@sqlpipe/ddl/parser';
import { isSameName, type LocatedName, NameMap, NameSet } from '@sqlpipe/sql';
import type { Catalogue } from '../catalogue.js';
import { childrenOf, type ParsedQuery, parseBody, parseQueryText, type TreeNode } from '../parse/parse-query.js';
import type { Session } from '../session.js';
import { isColumnItem, type Relation } from './analyze-relation.js';
import { chooseAlias, findAliasPosition, hasAggregate, nameOfItem, TakenNames } from './expressions.js';
import { rejectNonDeterministic } from './non-deterministic.js';
import { listTableRefs, QueryScope, type Source } from './query-scope.js';

/**
 * Finds the base. Without WITH BASE, the query must read only one table or stored view (materialized or live), which is the base.
 * @throws RejectionError also if the query does not read the base, or reads the base in an unsupported way
 */
export function requireValidBase(body: Body, statedBase: LocatedName | undefined, catalogue: Catalogue): LocatedName {
  const query = parseBody(body);
  const scope = new QueryScope(query, catalogue);
  const check = new BaseCheck();
  const names = check.findTables(query.select, scope);
  const [first, second] = names.values();
  const base = statedBase ?? first;
  if (!base) throw new RejectionError(body.start, 'missing base table, materialized views have to be based on a table');
  if (!statedBase && second)
    throw new RejectionError(
      body.start,
      "query references multiple tables (views are expanded to their underlying physical tables), use 'WITH BASE' to explicitly select the base table",
    );
  if (!names.has(base.name)) {
    const isView = catalogue.find(base.name)?.kind === 'view';
    const problem = isView
      ? 'base table should be a physical table, cannot be a view'
      : 'base table is not referenced in materialized view query';
    throw new RejectionError(base.start, `${problem}: ${base.name}`);
  }
  check.rejectUnsupported(query.select, scope, base.name);
  return base;
}

class BaseCheck {
  /** A cache, because a query of WITH may be read many times. */
  readonly #tables = new WeakMap<Select, NameMap<LocatedName>>();
  readonly #checked = new WeakSet<Select>();
  /** A query may read the same plain view many times, through other views. */
  readonly #checkedViews = new NameSet();

  /** Finds the tables and stored views that a query reads, directly or through plain views. */
  findTables(select: Select, outer: QueryScope): NameMap<LocatedName> {
    const known = this.#tables.get(select);
    if (known) return known;
    const scope = outer.enter(select);
    const names = new NameMap<LocatedName>();
    const own = scope.sourcesOf(select).flatMap(source => this.#tablesOf(source, scope));
    const others = (select.setOperations ?? []).map(({ select: next }) => this.findTables(next, scope));
    for (const located of [...own, ...others.flatMap(each => [...each.values()])])
      if (!names.has(located.name)) names.set(located.name, located);
    this.#tables.set(select, names);
    return names;
  }

  #tablesOf(source: Source, { catalogue }: QueryScope): LocatedName[] {
    if ('function' in source) return [];
    if ('select' in source) return [...this.findTables(source.select, source.scope).values()];
    const { name, start } = source;
    if (catalogue.find(name)?.kind !== 'view') return [{ name, start }];
    return catalogue.sources([name]).map(each => ({ name: catalogue.find(each)?.name ?? each, start }));
  }

  /**
   * Checks each SELECT that reads the base, directly or through plain views. A SELECT that also reads another table must have no UNION.
   * @throws RejectionError; if the problem is in a plain view, the position is in the query of the plain view (observed on 9.3.4)
   */
  rejectUnsupported(select: Select, outer: QueryScope, base: string): void {
    if (this.#checked.has(select)) return;
    this.#checked.add(select);
    const scope = outer.enter(select);
    const names = this.findTables(select, outer);
    const readsBase = names.has(base);
    if (readsBase) rejectBadSelectItems(select, scope, base);
    for (const { select: next } of select.setOperations ?? []) {
      if (readsBase && names.size > 1) throw scope.query.rejection(`union ${formatUnsupported(base)}`, next);
      this.rejectUnsupported(next, scope, base);
    }
    const sources = scope.sourcesOf(select);
    if (sources.flatMap(source => this.#tablesOf(source, scope)).some(({ name }) => isSameName(name, base)))
      rejectBadSampling(select, scope.query, base);
    for (const source of sources) {
      if ('select' in source) this.rejectUnsupported(source.select, source.scope, base);
      const view = 'object' in source ? source.object : undefined;
      if (view?.kind !== 'view' || view.opaqueStatement !== undefined || view.rejection) continue;
      if (this.#checkedViews.has(view.name)) continue;
      this.#checkedViews.add(view.name);
      const query = parseQueryText(view.body);
      this.rejectUnsupported(query.select, new QueryScope(query, scope.catalogue), base);
    }
  }
}

function rejectBadSelectItems(select: Select, scope: QueryScope, base: string): void {
  const { query } = scope;
  const taken = new TakenNames();
  let window: Expression | undefined;
  for (const item of select.columns) {
    if (item.type !== 'selectItem') continue;
    const { expression, alias } = item;
    if (expression.type === 'function' && expression.over) window = expression;
    const name = alias ?? chooseAlias(expression, scope, taken);
    taken.add(name);
    if (isValidColumnName(name)) continue;
    if (alias === undefined)
      throw query.rejection(
        `column '${name}' requires an explicit alias. Use: ${name} AS your_column_name`,
        expression,
      );
    throw new RejectionError(findAliasPosition(query, item), `column alias '${name}' contains unsupported characters`);
  }
  if (window) throw query.rejection(`window function ${formatUnsupported(base)}`, window);
}

function rejectBadSampling({ sampleBy }: Select, query: ParsedQuery, base: string): void {
  if (!sampleBy) return;
  if (sampleBy.alignTo?.mode === 'firstObservation') {
    // QuestDB computes the position of ALIGN as if one blank followed the duration.
    const position = query.positionOf(sampleBy, 'DurationLiteral') + sampleBy.duration.length + 1;
    throw new RejectionError(position, `ALIGN TO FIRST OBSERVATION ${formatUnsupported(base)}`);
  }
  const bound = sampleBy.from ?? sampleBy.to;
  if (bound) throw query.rejection(`FROM-TO ${formatUnsupported(base)}`, bound);
  if (sampleBy.fill?.length) throw query.rejection(`FILL ${formatUnsupported(base)}`, sampleBy.fill, 'fillValue');
}

const formatUnsupported = (base: string): string => `on base table is not supported for materialized views: ${base}`;

/** What the query of a materialized view says about time. Clauses of the statement may say otherwise. */
export interface ViewTiming {
  readonly timestamp: string;
  readonly partitionBy: PartitionUnit;
  /** Only with PERIOD (SAMPLE BY INTERVAL). */
  readonly refresh?: Pick<Refresh, 'timeZone' | 'period'> | undefined;
}

export function findTimestampClause({ definition, spans }: CreateStatement): LocatedName | undefined {
  const span = spans.get(TIMESTAMP.name);
  return span && 'timestamp' in definition && definition.timestamp !== undefined
    ? { name: definition.timestamp, start: span.position }
    : undefined;
}

/** The designated timestamp of a view, unless it has a TIMESTAMP clause. */
export const findViewTimestamp = (query: ParsedQuery, relation: Relation, catalogue: Catalogue): string | undefined =>
  findTimeGrouping(query, catalogue)?.column ?? relation.timestamp;

export function analyzeMaterializedView(
  statement: CreateOf<MaterializedViewDefinition>,
  base: LocatedName,
  relation: Relation,
  { catalogue, hasFeature }: Pick<Session, 'catalogue' | 'hasFeature'>,
): ViewTiming {
  const { body } = statement;
  const { refresh } = statement.definition;
  const timestamp = findTimestampClause(statement);
  const query = parseBody(body);
  const field = timestamp && relation.fields.find(({ name }) => isSameName(name, timestamp.name));
  const mayHave = (column: string) =>
    relation.hasUnknownColumns || relation.fields.some(({ name }) => isSameName(name, column));
  if (timestamp && !mayHave(timestamp.name))
    throw new RejectionError(timestamp.start, `TIMESTAMP column does not exist [name=${timestamp.name}]`);
  requireWalBase(base, catalogue);
  const grouping = findTimeGrouping(query, catalogue);
  const designated = timestamp?.name ?? findViewTimestamp(query, relation, catalogue);
  if (!grouping) {
    const passthrough = hasFeature('passthrough views') && analyzePassthrough(query, designated, base, catalogue);
    if (passthrough) return passthrough;
    const problem = timestamp
      ? `materialized view query requires a sampling interval, use SAMPLE BY or GROUP BY timestamp_floor() [name=${timestamp.name}]`
      : 'TIMESTAMP column is not present in select list';
    throw new RejectionError(body.start, problem);
  }
  if (!timestamp && grouping.column !== undefined && !mayHave(grouping.column))
    throw new RejectionError(
      body.start,
      `TIMESTAMP column does not exist or not present in select list [name=${grouping.column}]`,
    );
  const period = refresh.period === 'sample by interval' ? analyzePeriod(query.select, grouping) : undefined;
  rejectNonDeterministic(query, catalogue);
  if (field?.type !== undefined && !isTimestamp(field.type))
    throw new RejectionError(timestamp?.start ?? 0, `TIMESTAMP column expected [actual=${field.type}]`);
  if (designated === undefined)
    throw new RejectionError(body.start, 'materialized view query is required to have designated timestamp');
  return { timestamp: designated, partitionBy: defaultPartition(grouping.interval), refresh: period };
}

/**
 * A passthrough view has one row for each selected row of its base, and inherits the partitioning of its base.
 * @returns undefined for any other view
 */
function analyzePassthrough(
  query: ParsedQuery,
  designated: string | undefined,
  base: LocatedName,
  catalogue: Catalogue,
): ViewTiming | undefined {
  const { select } = query;
  const source = findOnlySource(select, new QueryScope(query, catalogue));
  const { distinct, limit, latestOn, pivot, orderBy, with: queries } = select;
  const isScan = source && 'object' in source && isSameName(source.name, base.name);
  if (!isScan || queries || distinct || limit || latestOn || pivot || orderBy || hasAggregate(select)) return undefined;
  const object = catalogue.find(base.name);
  if (designated === undefined || !object || !('partitionBy' in object)) return undefined;
  rejectNonDeterministic(query, catalogue);
  return { timestamp: designated, partitionBy: object.partitionBy };
}

export function requireWalBase(base: LocatedName, catalogue: Catalogue): void {
  const object = catalogue.find(base.name);
  if (!object) throw missingError(base.start, base.name);
  if (object.kind === 'live view')
    throw new RejectionError(base.start, 'live views are not allowed as base tables in V1');
  if (object.kind === 'table' && !object.wal) throw new RejectionError(base.start, 'base table has to be WAL enabled');
}

/** How a query groups rows in time. */
interface TimeGrouping {
  readonly interval: string;
  /** The column that has the start time of each group; undefined if the timestamp of the source is not known. */
  readonly column: string | undefined;
  /** The position of errors about the interval: where it starts in the query (observed on 9.3.4). */
  readonly position: number;
}

/** Finds SAMPLE BY or timestamp_floor() in a query, or else in its only source. GROUP BY and unions end the search. */
function findTimeGrouping(query: ParsedQuery, catalogue: Catalogue): TimeGrouping | undefined {
  const find = (select: Select, outer: QueryScope): TimeGrouping | undefined => {
    const scope = outer.enter(select);
    const grouping = findOwnTimeGrouping(select, scope);
    const source = findOnlySource(select, scope);
    if (grouping || !source || 'function' in source) return grouping;
    if ('select' in source) return find(source.select, source.scope);
    const { object: view } = source;
    if (view?.kind !== 'view' || view.opaqueStatement !== undefined) return undefined;
    return findTimeGrouping(parseQueryText(view.body), catalogue);
  };
  return find(query.select, new QueryScope(query, catalogue));
}

/**
 * A query may have both SAMPLE BY and timestamp_floor(). If the timestamp of the source is not known, SAMPLE BY decides. Otherwise, this
 * order decides (observed on 9.3.4):
 * 1. a timestamp_floor() with this timestamp in its arguments; if there are several, the first one
 * 2. the first timestamp_floor(), if the query does not return this timestamp as a column
 * 3. SAMPLE BY
 */
function findOwnTimeGrouping(select: Select, scope: QueryScope): TimeGrouping | undefined {
  const { sampleBy, columns } = select;
  const floors = findTimestampFloors(select, scope.query);
  // With GROUP BY, the server finds no interval, although its message advises GROUP BY (observed on 9.3.4).
  if (!sampleBy) return select.groupBy ? undefined : floors[0];
  const position = scope.query.positionOf(sampleBy, 'DurationLiteral') - scope.query.start;
  const [ref] = listTableRefs(select);
  const source = ref && scope.sourceOf(ref);
  const timestamp = source && 'object' in source ? source.object?.timestamp : undefined;
  if (!source || !('name' in source) || timestamp === undefined)
    return { interval: sampleBy.duration, column: undefined, position };
  const item = columns.find(each => isColumnItem(each, timestamp, ref.alias ?? source.name));
  const floor = floors.find(({ call }) => mentions(call, timestamp)) ?? (item ? undefined : floors[0]);
  const column = item?.type === 'selectItem' ? (item.alias ?? timestamp) : findFreeName(select, timestamp);
  return floor ?? { interval: sampleBy.duration, column, position };
}

function findTimestampFloors({ columns }: Select, query: ParsedQuery) {
  return columns.flatMap(item => {
    if (item.type !== 'selectItem' || item.expression.type !== 'function') return [];
    const { expression: call, alias: column = call.name } = item;
    if (call.name.toLowerCase() !== 'timestamp_floor') return [];
    const [interval] = call.args;
    const text = interval?.type === 'literal' ? String(interval.value) : '';
    return { call, interval: text, column, position: interval ? query.positionOf(interval) - query.start : 0 };
  });
}

/** Whether an expression contains a column by its unqualified name: `ts`, not `t.ts`. */
const mentions = (node: TreeNode, column: string): boolean =>
  node.type === 'qualifiedName'
    ? isSameName((node as QualifiedName).parts.join('.'), column)
    : childrenOf(node).some(child => mentions(child, column));

/** A query with SAMPLE BY need not return the timestamp. A server then adds the timestamp under this name (observed on 9.3.4). */
function findFreeName({ columns }: Select, timestamp: string): string {
  if (columns.some(({ type }) => type !== 'selectItem')) return timestamp;
  const taken = new TakenNames();
  for (const item of columns) taken.add(nameOfItem(item) ?? '');
  return taken.findUnused(timestamp, n => `${timestamp}${n}`);
}

function findOnlySource({ from, groupBy, setOperations }: Select, scope: QueryScope): Source | undefined {
  const [ref, ...more] = from ?? [];
  return !ref || more.length > 0 || ref.joins?.length || groupBy || setOperations ? undefined : scope.sourceOf(ref);
}

function analyzePeriod({ sampleBy }: Select, { interval, position }: TimeGrouping): ViewTiming['refresh'] {
  const length = `${Number.parseInt(interval, 10) || 1}${interval.slice(-1)}`;
  rejectLongPeriod(length, position);
  const { timeZone, offset: shift } = sampleBy?.alignTo ?? {};
  rejectInvalidTimeZone(timeZone, position);
  if (shift !== undefined && !/^[-+]?00:00$/.test(shift))
    throw new RejectionError(position, "PERIOD (SAMPLE BY INTERVAL) can't be used with WITH OFFSET");
  return { period: { length }, timeZone };
}
