/*! Whether a query returns no rows because the tables have none. */
import type { SelectStatement } from '@questdb/sql-parser';
import type { Catalogue } from '../catalogue.js';
import { parseQueryText, type Query } from '../parser/parsed-query.js';
import { hasAggregate, tableName } from './relation.js';

type TableRef = NonNullable<SelectStatement['from']>[number];

/**
 * Whether a query is certain to return no rows if no table and no materialized view has rows. It is not certain of a
 * query with WITH, PIVOT or FILL, nor of one that may aggregate all rows into one.
 */
export function returnsNoRows({ select }: Query, catalogue: Catalogue): boolean {
  /** Each view is read once: views over views can name one many times. */
  const views = new Map<string, boolean>();

  const isEmptyView = (name: string, body: string): boolean => {
    const known = views.get(name);
    if (known !== undefined) return known;
    const isEmpty = isEmptySelect(parseQueryText(body).select);
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
