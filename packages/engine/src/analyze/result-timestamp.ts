/*! Finds the designated timestamp of a query's result. Without one, neither SAMPLE BY nor a partitioned table can use the result. */
import type { SelectStatement } from '@questdb/sql-parser';
import { isTimestamp } from '@sqlpipe/ddl/grammar';
import { isSameName } from '@sqlpipe/sql';
import { columnName } from './column-names.js';
import type { AliasedRelation, Field } from './column-scope.js';
import { hasAggregate } from './functions.js';

export type SelectItem = SelectStatement['columns'][number];

export interface SelectedField extends Field {
  readonly item?: SelectItem;
}

/** The source whose columns `t.*` selects; undefined for `*`. */
export const starQualifier = (item: SelectItem): string | undefined =>
  item.type === 'qualifiedStar' ? item.qualifier.parts.at(-1) : undefined;

/** The designated timestamp of a result. It is that of the first source, if the query selects it and keeps the order of the rows. */
export function findTimestamp(
  select: SelectStatement,
  sources: readonly AliasedRelation[],
  fields: readonly SelectedField[],
): string | undefined {
  if (select.orderBy) return findSortTimestamp(select.orderBy, select, fields);
  const [first] = sources;
  const designated = first?.relation.timestamp;
  if (designated === undefined) return undefined;
  const isGrouped = select.groupBy !== undefined || select.columns.some(hasAggregate) || select.distinct;
  if (isGrouped && !select.sampleBy) return undefined;
  const index = select.columns.findIndex(item => isColumnItem(item, designated, first?.alias));
  if (index >= 0) return itemName(select, index, fields);
  if (select.columns.some(item => item.type === 'star')) return designated;
  const star = select.columns.find(item => isSameName(first?.alias, starQualifier(item)));
  const column = first?.relation.fields.findIndex(({ name }) => isSameName(name, designated)) ?? -1;
  return star && fields.filter(({ item }) => item === star)[column]?.name;
}

/** The designated timestamp of sorted rows: the first column of ORDER BY, if it is an ascending timestamp (observed on 9.3.4). */
export function findSortTimestamp(
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

/** Whether a select item is a column of the source with an alias, and nothing else. */
export function isColumnItem(item: SelectItem, name: string, alias: string | undefined): boolean {
  if (item.type !== 'selectItem' || item.expression.type !== 'column') return false;
  const { parts } = item.expression.name;
  return isSameName(parts.at(-1), name) && (parts.length === 1 || isSameName(parts[0], alias));
}

/** The name of the column that a select item gives. After a star, the index of the item is not that of its column. */
function itemName(select: SelectStatement, index: number, fields: readonly Field[]): string | undefined {
  const isAfterStar = select.columns.slice(0, index).some(item => item.type !== 'selectItem');
  const item = select.columns[index];
  if (!isAfterStar) return fields[index]?.name;
  return item?.type === 'selectItem' ? (item.alias ?? columnName(item.expression)) : undefined;
}
