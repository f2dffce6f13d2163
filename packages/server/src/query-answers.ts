/*! Answers queries over catalogue functions and over tables, which have no rows, and queries that drivers send when they connect. */
import { RejectionError } from '@sqlpipe/ddl/parser';
import type { Cell, ColumnHead, ResultSet, Session } from '@sqlpipe/engine';
import {
  analyzeRelation,
  columnName,
  type Expression,
  type ParsedQuery,
  parseQueryText,
  type Relation,
  requireQueryReadAccess,
  returnsNoRows,
  type SelectItem,
  type SelectStatement,
} from '@sqlpipe/engine/query';
import { isPlanQuery, ROWLESS_ANSWERS } from '@sqlpipe/plan/text';
import { isSameName } from '@sqlpipe/sql';
import { callFunction } from './catalogue-functions.js';

/** The functions that are called without arguments, by name in lower case. */
const FUNCTIONS_WITHOUT_ARGUMENTS = new Map<string, (session: Session) => string>([
  ['build', ({ version }) => `Build Information: QuestDB ${version}, sqlserve`],
  ['now', () => new Date().toISOString().replace('Z', '000Z')],
  ['version', () => 'PostgreSQL 12.3, compiled by Visual C++ build 1914, 64-bit, QuestDB'],
]);

/** @throws RejectionError for a query that needs rows */
export function answerQuery(text: string, session: Session): ResultSet {
  const query = parseQueryText(text);
  const { select } = query;
  // Errors of the query are reported before the fact that no rows are stored.
  const relation = analyzeRelation(query, session.catalogue);
  requireQueryReadAccess(session, query);
  const assertion = isPlanQuery(text) ? answerAssertion(select) : undefined;
  if (assertion) return assertion;
  if (returnsNoRows(query, session.catalogue))
    return { columns: headsOf(relation), rows: [], timestamp: relation.timestamp };
  const operations = select.setOperations ?? [];
  if (operations.some(({ operator, all }) => operator !== 'UNION' || !all)) throw noRowsError();
  const [table, ...others] = [select, ...operations.map(next => next.select)].map(each =>
    answerSelect({ ...query, select: each }, relation, session),
  );
  if (!table) throw noRowsError();
  return { columns: table.columns, rows: [...table.rows, ...others.flatMap(({ rows }) => rows)] };
}

function headsOf({ fields, hasUnknownColumns }: Relation): ColumnHead[] {
  if (hasUnknownColumns) throw noRowsError();
  return fields.map(headOf);
}

function headOf({ name, type }: Relation['fields'][number]): ColumnHead {
  if (type === undefined || type === 'NULL') throw noRowsError();
  return { name, type };
}

function answerSelect(query: ParsedQuery, relation: Relation, session: Session): ResultSet {
  const { select } = query;
  const [from, ...joins] = select.from ?? [];
  const hasOnlyColumns = !(select.groupBy || select.sampleBy || select.latestOn || select.distinct || select.pivot);
  if (!from && hasOnlyColumns && !select.where) {
    const row = select.columns.map(item => constantOf(item, session));
    return limitRows({ columns: headsOf(relation), rows: [row] }, select);
  }
  const source = from?.table;
  if (source?.type !== 'tableFunctionCall' || joins.length > 0 || from?.joins?.length || !hasOnlyColumns)
    throw noRowsError();
  const table = filterRows(callFunction(source, session, query), select);
  return limitRows(sortRows(projectColumns(table, query, relation, session), select), select);
}

function filterRows({ columns, rows }: ResultSet, { where }: SelectStatement): ResultSet {
  if (!where) return { columns, rows };
  const indexes = new Map(columns.map(({ name }, index) => [name.toLowerCase(), index]));
  const isSelected = (row: readonly Cell[]) => {
    const value = evaluateCondition(where, column => row[indexes.get(column) ?? -1]);
    if (typeof value !== 'boolean') throw noRowsError();
    return value;
  };
  return { columns, rows: rows.filter(isSelected) };
}

function answerAssertion({ columns }: SelectStatement): ResultSet | undefined {
  const names = columns.map(item => (item.type === 'selectItem' ? (item.alias ?? '') : ''));
  const answers = names.flatMap(name => ROWLESS_ANSWERS.get(name) ?? []);
  if (names.length === 0 || answers.length < names.length) return undefined;
  return {
    columns: answers.map(({ type }, i) => ({ name: names[i] ?? '', type })),
    rows: [answers.map(({ value }) => value)],
  };
}

const noRowsError = (): RejectionError =>
  new RejectionError(
    0,
    'sqlserve stores no rows and has no query engine: it answers constants, now(), SELECT over tables if that has no rows, and simple queries over tables() and other lists; use a real QuestDB for tests that need rows',
  );

function constantOf(item: SelectItem, session: Session): Cell {
  const value = item.type === 'selectItem' ? evaluate(item.expression, session) : undefined;
  if (value === undefined) throw noRowsError();
  return value;
}

function evaluate(expression: Expression, session: Session): Cell | undefined {
  if (expression.type === 'literal') {
    const { value, raw } = expression;
    // Other numbers have a suffix, an exponent or more digits than JavaScript's.
    return typeof value !== 'number' || String(value) === raw ? value : undefined;
  }
  if (expression.type === 'unary' && expression.operator === '-') {
    const value = evaluate(expression.operand, session);
    return typeof value === 'number' ? -value : undefined;
  }
  if (expression.type !== 'function' || expression.args.length > 0) return undefined;
  return FUNCTIONS_WITHOUT_ARGUMENTS.get(expression.name.toLowerCase())?.(session);
}

function projectColumns(table: ResultSet, query: ParsedQuery, { fields }: Relation, session: Session): ResultSet {
  const valueAt = (index: number) => (row: readonly Cell[]) => row[index] ?? null;
  const next = fields.values(); // without those of `*`: the analysis does not know the columns of a list
  const picks = query.select.columns.flatMap((item): { head: ColumnHead; value(row: readonly Cell[]): Cell }[] => {
    if (item.type === 'star') return table.columns.map((head, index) => ({ head, value: valueAt(index) }));
    const field = next.next().value;
    if (item.type !== 'selectItem' || !field) throw noRowsError();
    const { expression } = item;
    if (expression.type !== 'column') {
      const constant = constantOf(item, session);
      return [{ head: headOf(field), value: () => constant }];
    }
    const name = columnName(expression);
    const index = table.columns.findIndex(head => isSameName(head.name, name));
    const head = table.columns[index];
    if (!head) throw query.rejection(`Invalid column: ${name}`, expression);
    return [{ head: { name: field.name, type: head.type }, value: valueAt(index) }];
  });
  return { columns: picks.map(({ head }) => head), rows: table.rows.map(row => picks.map(({ value }) => value(row))) };
}

function sortRows({ columns, rows }: ResultSet, { orderBy = [] }: SelectStatement): ResultSet {
  let sorted = rows;
  for (const { expression, direction } of orderBy.toReversed()) {
    const index = columns.findIndex(head => isSameName(head.name, columnName(expression)));
    if (index < 0) throw noRowsError();
    const sign = direction === 'desc' ? -1 : 1;
    const cellOf = (row: readonly Cell[]) => row[index] ?? '';
    sorted = sorted.toSorted((a, b) => (cellOf(a) === cellOf(b) ? 0 : cellOf(a) < cellOf(b) ? -sign : sign));
  }
  return { columns, rows: sorted };
}

function limitRows(table: ResultSet, { limit }: SelectStatement): ResultSet {
  if (!limit) return table;
  const { lowerBound, upperBound } = limit;
  const count = lowerBound.type === 'literal' && !upperBound ? Number(lowerBound.value) : Number.NaN;
  if (!Number.isInteger(count)) throw noRowsError();
  return { columns: table.columns, rows: table.rows.slice(0, count) };
}

const COMPARISONS: Readonly<Record<string, (a: Cell, b: Cell) => boolean>> = {
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<>': (a, b) => a !== b,
  '>': (a, b) => a !== null && b !== null && a > b,
  '<': (a, b) => a !== null && b !== null && a < b,
};

function evaluateCondition(expression: Expression, row: (column: string) => Cell | undefined): Cell | undefined {
  const evaluate = (operand: Expression) => evaluateCondition(operand, row);
  switch (expression.type) {
    case 'literal':
      return expression.value;
    case 'column':
      return row(columnName(expression)?.toLowerCase() ?? '');
    case 'paren':
      return expression.additionalExpressions?.length ? undefined : evaluate(expression.expression);
    case 'function': {
      const [argument] = expression.name.toLowerCase() === 'lower' ? expression.args : [];
      const value = argument && evaluate(argument);
      return typeof value === 'string' ? value.toLowerCase() : value;
    }
    case 'unary': {
      const value = expression.operator.toLowerCase() === 'not' ? evaluate(expression.operand) : undefined;
      return typeof value === 'boolean' ? !value : undefined;
    }
    case 'in': {
      const [value, ...values] = [expression.expression, ...expression.values].map(evaluate);
      if (value === undefined || values.includes(undefined)) return undefined;
      return values.includes(value) !== (expression.not ?? false);
    }
    case 'binary': {
      const [left, right] = [evaluate(expression.left), evaluate(expression.right)];
      if (left === undefined || right === undefined) return undefined;
      const operator = expression.operator.toLowerCase();
      if (operator === 'and') return left === true && right === true;
      if (operator === 'or') return left === true || right === true;
      return COMPARISONS[operator]?.(left, right);
    }
    default:
      return undefined;
  }
}
