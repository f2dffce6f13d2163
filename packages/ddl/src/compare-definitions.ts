/*!
 * Compares two definitions property by property: would they create the same object on the same server? A property is not
 * compared if one definition leaves it to the server, or if no server can show it.
 */
import { foldCase, isObject, type Kind } from '@sqlpipe/sql';
import { COLUMN_OPTIONS } from './columns/column-properties.js';
import type { StatedColumn } from './columns/column-property.js';
import type { Definition, TableDefinition, ViewDefinition } from './definition.js';
import { type AnyProperty, propertiesOf } from './properties/object-properties.js';
import { COLUMN_ORDER, columnProperty, type PropertyName } from './property-name.js';
import { findQueryColumns } from './query-columns.js';
import { findQueryDifference } from './query-tokens.js';

/** A property in which two definitions differ. */
export interface PropertyDifference {
  /** What differs, in the user's words: `dedup keys`, `column 'price'`, `column order`, `query`. */
  readonly property: PropertyName;
  /** The value of definition A as text, and below that of B; `none` if one has no such property. */
  readonly a: string;
  readonly b: string;
}

/** The result of comparing two definitions. */
export interface Comparison {
  /** Empty if the two definitions are the same. */
  readonly differences: PropertyDifference[];
  /** The properties that only one definition states. They are no differences, but do not prove either that the definitions are the same. */
  readonly notComparable: string[];
}

const NONE = 'none';

/**
 * The properties in which two definitions can differ, if the first is of this kind; none if there are no definitions of it. `*` stands
 * for the name of a column.
 */
export function listDefinitionProperties(kind: Kind): PropertyName[] {
  if (!isObject(kind)) return [];
  const others: PropertyName[] =
    kind === 'table'
      ? [
          ...(['', ' name', ...COLUMN_OPTIONS.map(({ name }) => name)] as const).map(each => columnProperty('*', each)),
          COLUMN_ORDER,
        ]
      : ['query'];
  return ['name', 'kind', ...others, ...propertiesOf(kind).map(({ name }) => name)];
}

/** Compares two definitions property by property. */
export function compareDefinitions(a: Definition, b: Definition): Comparison {
  const comparison = new ComparisonBuilder();
  comparison.add('name', a.name, b.name);
  if (a.kind !== b.kind) comparison.add('kind', a.kind, b.kind);
  else if (a.kind === 'table') compareTables(a, b as TableDefinition, comparison);
  else {
    const { body } = b as ViewDefinition;
    const at = findQueryDifference(a.body, body);
    if (at)
      comparison.differences.push({ property: 'query', a: excerptAround(a.body, at.a), b: excerptAround(body, at.b) });
    comparison.addAll(propertiesOf(a.kind), a, b);
  }
  return comparison;
}

class ComparisonBuilder implements Comparison {
  readonly differences: PropertyDifference[] = [];
  readonly notComparable: string[] = [];

  add(property: PropertyName, a: string | undefined, b: string | undefined, reportOneSided = false): void {
    if (a !== undefined && b !== undefined) {
      if (a !== b) this.differences.push({ property, a, b });
    } else if (reportOneSided && a !== b) this.notComparable.push(property);
  }

  addAll(properties: readonly AnyProperty[], a: Definition, b: Definition): void {
    for (const { name, value, isHidden } of properties) this.add(name, value(a), value(b), isHidden);
  }
}

function compareTables(a: TableDefinition, b: TableDefinition, comparison: ComparisonBuilder): void {
  if (a.like !== undefined || b.like !== undefined) {
    if (a.like !== b.like) comparison.notComparable.push('all columns and properties (CREATE TABLE … LIKE)');
    return;
  }
  compareColumns(toColumnList(a), toColumnList(b), comparison);
  comparison.addAll(propertiesOf('table'), a, b);
}

/** The known columns of a table. If `isComplete`, they are all columns, in their order. */
interface ColumnList {
  readonly columns: readonly ListedColumn[];
  readonly isComplete: boolean;
}

type ListedColumn = StatedColumn & { readonly name: string };

/** The known columns of a table. Of one from a query they are those that the query names, with what other clauses state of them. */
function toColumnList({ columns, query }: TableDefinition): ColumnList {
  if (query === undefined) return { columns, isComplete: true };
  const named = findQueryColumns(query);
  // Whether symbols are cached is known only if a CAST states the type.
  const listed = columns.map(({ cached, ...column }): ListedColumn => (column.type ? { ...column, cached } : column));
  if (!named) return { columns: listed, isComplete: false };
  const byKey = new Map(listed.map(column => [foldCase(column.name), column]));
  return {
    columns: named.map(({ name, type = '' }) => {
      const column = byKey.get(foldCase(name));
      return { ...column, name, type: column?.type || type };
    }),
    isComplete: true,
  };
}

function compareColumns(a: ColumnList, b: ColumnList, comparison: ComparisonBuilder): void {
  const [columnsA, columnsB] = [columnsByKey(a), columnsByKey(b)];
  for (const [key, column] of columnsA) {
    const other = columnsB.get(key);
    if (other && a.isComplete && b.isComplete)
      comparison.add(columnProperty(column.name, ' name'), column.name, other.name);
    if (other) compareColumn(column, other, comparison);
    else if (b.isComplete) comparison.add(columnProperty(column.name), column.type || 'present', NONE);
  }
  if (a.isComplete)
    for (const [key, column] of columnsB)
      if (!columnsA.has(key)) comparison.add(columnProperty(column.name), NONE, column.type || 'present');
  if (!a.isComplete || !b.isComplete) comparison.notComparable.push('the columns of its query');
  else
    compareOrder(
      [...columnsA.keys()].filter(key => columnsB.has(key)),
      [...columnsB.keys()].filter(key => columnsA.has(key)),
      comparison,
    );
}

const columnsByKey = ({ columns }: ColumnList): Map<string, ListedColumn> =>
  new Map(columns.map(column => [foldCase(column.name), column]));

/** Compares the order of the same columns. Equal columns at the start and at the end of both lists are not shown. */
function compareOrder(a: string[], b: string[], comparison: ComparisonBuilder): void {
  const first = a.findIndex((name, index) => name !== b[index]);
  if (first < 0) return;
  const end = a.findLastIndex((name, index) => name !== b[index]) + 1;
  const [orderA, orderB] = [a, b].map(names => names.slice(first, end).join(', '));
  comparison.add(COLUMN_ORDER, orderA, orderB);
}

function compareColumn(a: ListedColumn, b: ListedColumn, comparison: ComparisonBuilder): void {
  if (!a.type || !b.type) comparison.notComparable.push(columnProperty(a.name, ' type'));
  else if (a.type !== b.type) return comparison.add(columnProperty(a.name), a.type, b.type);
  for (const { name, value, isHidden } of COLUMN_OPTIONS)
    comparison.add(columnProperty(a.name, name), value(a), value(b), isHidden);
}

/** The number of UTF-16 code units of a query that are shown around the first difference. */
const CONTEXT = 40;

function excerptAround(query: string, at: number): string {
  const start = Math.max(0, at - CONTEXT / 2);
  const piece = query.slice(start, at + CONTEXT).replace(/\s+/g, ' ');
  return `${start > 0 ? '…' : ''}${piece}${at + CONTEXT < query.length ? '…' : ''}`;
}
