/*!
 * Rejects queries whose result depends on when they run, which a materialized view cannot have. A server first replaces each plain view by
 * its query, and removes the columns that nothing reads. So it accepts such a function in a column that is not read, or in a query of WITH
 * that is not used (observed on 9.3.4).
 */
import type { QualifiedName, SelectStatement as Select, SelectItem } from '@questdb/sql-parser';
import { RejectionError } from '@sqlpipe/ddl/parser';
import { isSameName, NameSet } from '@sqlpipe/sql';
import type { Catalogue } from '../catalogue.js';
import { childrenOf, type ParsedQuery, parseQueryText, type TreeNode } from '../parse/parse-query.js';
import { hasAggregate, isNonDeterministic, nameOfItem } from './expressions.js';
import { listTableRefs, QueryScope, type TableRef } from './query-scope.js';

/** The columns of a query that are read; undefined if all of them are. */
type ColumnsRead = NameSet | undefined;

type Contents = ReturnType<typeof findContents>;

/** @throws RejectionError also for a function in a plain view: its position in that view is added to the start of this query */
export function rejectNonDeterministic(query: ParsedQuery, catalogue: Catalogue): void {
  /** The columns that were read when a query was last checked. A query may be named many times. */
  const checked = new Map<Select, ColumnsRead>();

  /** QuestDB compiles the sources of a query first, then WHERE, then the rest. */
  const check = (select: Select, outer: QueryScope, given: ColumnsRead): void => {
    const known = checked.get(select);
    if (checked.has(select) && (!known || (given && [...given].every(name => known.has(name))))) return;
    const read = given && new NameSet([...given, ...(known ?? [])]);
    checked.set(select, read);
    const scope = outer.enter(select);
    const { where, groupBy, orderBy, sampleBy, latestOn, pivot, limit, setOperations = [] } = select;
    const refs = listTableRefs(select);
    const conditions = refs.flatMap(({ joins = [] }) => joins.map(({ table: _, ...rest }) => rest));
    const filter = findContents([where], scope);
    const sorted = findContents([groupBy, orderBy, sampleBy, latestOn, pivot, limit], scope);
    const items = findItemsRead(select, scope, read, sorted);
    const all = [filter, findContents([items, conditions], scope), sorted];
    const names = all.flatMap(each => each.names);
    for (const ref of refs) checkSource(ref, scope, readOfRef(ref, names, items, read));
    for (const { operator, all: keepsDuplicates, select: next } of setOperations)
      check(next, scope, operator === 'UNION' && keepsDuplicates ? readOfUnion(select, next, read) : undefined);
    for (const { calls, subqueries } of all) {
      for (const subquery of subqueries) check(subquery, scope, undefined);
      rejectCalls(calls, scope.query);
    }
  };

  const checkSource = (ref: TableRef, scope: QueryScope, read: ColumnsRead): void => {
    const source = scope.sourceOf(ref);
    if ('select' in source) return check(source.select, source.scope, read);
    if ('function' in source) return rejectCalls(findContents([ref.table], scope).calls, scope.query);
    const { object } = source;
    if (object?.kind !== 'view' || object.opaqueStatement !== undefined || object.rejection) return;
    const viewQuery = parseQueryText(object.body);
    check(viewQuery.select, new QueryScope(viewQuery, catalogue), read);
  };

  const rejectCalls = (calls: Contents['calls'], { start, positionOf }: ParsedQuery): void => {
    const call = calls.find(({ name }) => isNonDeterministic(name));
    if (!call) return;
    const problem = `non-deterministic function cannot be used in materialized view: ${call.name}`;
    throw new RejectionError(query.start + positionOf(call.node) - start, problem);
  };

  check(query.select, new QueryScope(query, catalogue), undefined);
}

/** Finds the items that a server does not remove. An item without a simple name counts as read. */
function findItemsRead(select: Select, scope: QueryScope, read: ColumnsRead, sorted: Contents): SelectItem[] {
  const { columns, distinct, groupBy, orderBy = [], sampleBy, pivot } = select;
  const positions = [...(groupBy ?? []), ...orderBy.map(({ expression }) => expression)];
  if (!read || pivot || positions.some(({ type }) => type === 'literal')) return columns;
  // If a query groups without GROUP BY, each item without an aggregate is a key.
  const isGrouped = sampleBy !== undefined || (!groupBy && columns.some(hasAggregate));
  const isKey = (item: SelectItem) =>
    (isGrouped && !hasAggregate(item)) || (distinct === true && variesByRow(item, scope));
  const names = new NameSet([...read, ...sorted.names.flatMap(parts => parts.at(-1) ?? [])]);
  const items = new Set<SelectItem>();
  for (let count = -1; count < items.size; ) {
    count = items.size;
    for (const item of columns) {
      const name = nameOfItem(item);
      if (items.has(item) || !(name === undefined || names.has(name) || isKey(item))) continue;
      items.add(item);
      for (const [column, ...rest] of findContents([item], scope).names)
        if (column !== undefined && rest.length === 0) names.add(column);
    }
  }
  return [...items];
}

/** DISTINCT ignores an item that has the same value in each row, such as `now()`. */
function variesByRow(item: SelectItem, scope: QueryScope): boolean {
  const { names, calls } = findContents([item], scope);
  return names.length > 0 || calls.some(({ name }) => /^rnd_/i.test(name));
}

function readOfRef(ref: TableRef, names: Contents['names'], items: readonly SelectItem[], read: ColumnsRead) {
  const { table, timestampDesignation: timestamp } = ref;
  const alias = ref.alias ?? (table.type === 'qualifiedName' ? table.parts.join('.') : undefined);
  const isOfRef = (qualifier: string): boolean => alias === undefined || isSameName(qualifier, alias);
  const passesAll = items.some(
    item => item.type === 'star' || (item.type === 'qualifiedStar' && isOfRef(item.qualifier.parts.join('.'))),
  );
  if (passesAll && !read) return undefined;
  const columns = names.flatMap(parts =>
    parts.length === 1 || isOfRef(parts.slice(0, -1).join('.')) ? (parts.at(-1) ?? []) : [],
  );
  return new NameSet([...columns, ...(timestamp === undefined ? [] : [timestamp]), ...(passesAll && read ? read : [])]);
}

/** UNION ALL pairs columns by their positions. */
function readOfUnion(first: Select, next: Select, read: ColumnsRead): ColumnsRead {
  const [names, nextNames] = [first.columns.map(nameOfItem), next.columns.map(nameOfItem)];
  if (!read || [...names, ...nextNames].includes(undefined)) return undefined;
  return new NameSet(nextNames.flatMap((name, i) => (name !== undefined && read.has(names[i] ?? '') ? name : [])));
}

/** What expressions contain, apart from what their subqueries contain. */
function findContents(nodes: readonly (object | undefined)[], scope: QueryScope) {
  const names: (readonly string[])[] = [];
  const calls: { readonly name: string; readonly node: TreeNode }[] = [];
  const subqueries: Select[] = [];
  const visit = (node: TreeNode): void => {
    if (node.type === 'select') return void subqueries.push(node as Select);
    if (node.type === 'qualifiedName') return void names.push((node as QualifiedName).parts);
    const { name } = node as { name?: unknown };
    if (node.type === 'function' && typeof name === 'string') calls.push({ name, node });
    const value = node.type === 'variable' && typeof name === 'string' ? scope.findVariable(name) : undefined;
    for (const child of value ? [value] : childrenOf(node)) visit(child);
  };
  for (const node of childrenOf(nodes)) visit(node);
  return { names, calls, subqueries };
}
