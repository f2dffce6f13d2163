/*!
 * The question whether a materialized view holds rows that its query no longer returns. Each form was tried on 9.3.4, also while
 * rows were written.
 */
import { findStoredValues, type MaterializedViewDefinition, needsQuotes } from '@sqlpipe/ddl';
import type { ColumnHead, StoredRows } from '@sqlpipe/engine';
import { foldCase, keywordOf, tokens, unquote } from '@sqlpipe/sql';
import { doubleQuote } from './statement-text.js';

export interface HistoryFinding {
  readonly answer: StoredRows;
  /** The columns of the view; undefined if the server does not show them. */
  readonly columns: readonly ColumnHead[] | undefined;
}

/** Asks a server what a materialized view holds that its query no longer returns. */
export type AskHistory = (view: MaterializedViewDefinition) => Promise<HistoryFinding>;

type ComparedView = Pick<MaterializedViewDefinition, 'name' | 'body' | 'base'>;

/**
 * Replaces the names in a query of what was renamed. If a column of another table has one of the old names, that name is replaced
 * too, and the query fails or returns other rows.
 * @param renamed the new names by the old ones, in lower case
 */
export function renameInQuery(query: string, renamed: ReadonlyMap<string, string>): string {
  let [body, previous] = ['', ''];
  for (const { type, text, ...token } of tokens(query)) {
    const isWord = type === 'word' && !needsQuotes(text);
    const isName = isWord || type === 'name' || (type === 'string' && /^(?:FROM|JOIN)$/.test(previous));
    const to = isName ? renamed.get(foldCase(unquote(text))) : undefined;
    body += to === undefined ? text : doubleQuote(to);
    if (type !== 'space' && type !== 'comment') previous = keywordOf({ type, text, ...token });
  }
  return body;
}

/**
 * Prints the assertion that a materialized view holds no rows that its query no longer returns. A query may end in a comment, so a line
 * feed follows it.
 * @param columns without them, duplicate rows count as one, and sums that differ in their last bits count as lost
 */
export function printNoHistoryAssertion(view: ComparedView, columns?: readonly ColumnHead[]): string {
  if (!columns)
    return `SELECT count() = 0 AS nothing_is_lost FROM (SELECT * FROM '${view.name}' EXCEPT (\n${view.body}\n));`;
  return `SELECT coalesce(sum(${printLostRow(view, columns)}), 0) = 0 AS nothing_is_lost FROM ${printDifferences(view, columns)};`;
}

/** Prints the query for the number of lost rows, and for the times of the first and the last one. `ROWLESS_ANSWERS` has its columns. */
export function printHistoryQuestion(view: ComparedView, timestamp: string, columns: readonly ColumnHead[]): string {
  const lost = printLostRow(view, columns);
  const time = (order: 'min' | 'max') => `${order}(CASE WHEN ${lost} = 1 THEN ${doubleQuote(timestamp)} END)`;
  return `SELECT coalesce(sum(${lost}), 0) rows_lost, ${time('min')} first_lost, ${time('max')} last_lost FROM ${printDifferences(view, columns)}`;
}

/**
 * Prints a query with one row for each combination of values in the view or its query: how much more often the view has it, and the range
 * of the computed values. `count()` over these rows is wrong on 9.3.4, which then leaves out columns; `sum` is right.
 */
function printDifferences(view: ComparedView, columns: readonly ColumnHead[]): string {
  const computed = findComputedColumns(view, columns);
  const keys = columns.filter(column => !computed.includes(column)).map(printKey);
  const ranges = computed.flatMap((column, i) => {
    const value = doubleQuote(column.name);
    return [
      `min(${value}) sqlpipe_low${i}`,
      `max(${value}) sqlpipe_high${i}`,
      `sum(CASE WHEN ${value} IS NOT NULL THEN sqlpipe_side ELSE 0 END) sqlpipe_more${i}`,
    ];
  });
  const both = `SELECT 1 sqlpipe_side, * FROM '${view.name}' UNION ALL SELECT -1 sqlpipe_side, * FROM (\n${view.body}\n)`;
  return `(SELECT ${[...keys, 'sum(sqlpipe_side) sqlpipe_more', ...ranges].join(', ')} FROM (${both}))`;
}

/** As keys, each NaN and both zeros are different values, of which `min` and `max` give one or another. */
const printKey = (column: ColumnHead, i: number): string => {
  const value = doubleQuote(column.name);
  return isFloat(column) ? `CASE WHEN ${value} IS NOT NULL THEN ${value} + 0 END sqlpipe_key${i}` : value;
};

/** Prints an expression that is 1 if the view has a combination of values more often than its query, and 0 otherwise. */
function printLostRow(view: ComparedView, columns: readonly ColumnHead[]): string {
  const differ = findComputedColumns(view, columns).map(({ type }, i) => {
    const [low, high] = [`sqlpipe_low${i}`, `sqlpipe_high${i}`];
    return `sqlpipe_more${i} > 0 OR (${high} - ${low}) / (abs(${high}) + abs(${low})) > ${TOLERANCES[type]}`;
  });
  return `CASE WHEN ${['sqlpipe_more > 0', ...differ].join(' OR ')} THEN 1 ELSE 0 END`;
}

/** Finds the floating point columns whose last digits may differ from one run to the next. */
function findComputedColumns({ body, base = '' }: ComparedView, columns: readonly ColumnHead[]): ColumnHead[] {
  const stored = findStoredValues(body, base);
  return columns.filter((column, index) => isFloat(column) && !(stored.length === columns.length && stored[index]));
}

/**
 * How much of its value a computed value may differ by. It is a ratio, because to the server values are equal that differ by less than
 * 1e-10. These are the largest differences of 60 results, parallel (frames of 2,000 rows, 4 workers) and serial, with 10,000 to 200,000
 * rows in a group (measured on 9.3.4):
 * - DOUBLE: 6e-14 of positive values, 6e-13 of correlations and of sums whose signs cancel;
 * - FLOAT, which only `sum` gives of FLOAT values: 1.6e-5 of positive values.
 *
 * The difference is divided by the sum of both values. So if rows are gone that made up less than twice the tolerance of a value, this is
 * not noticed; docs/PLANS.md says so. On the other hand, no tolerance spares all values. What may count as lost: FLOAT sums that cancel
 * (2e-4) or have millions of rows (6e-3), and deviations far smaller than their values (2e-7).
 */
const TOLERANCES: Readonly<Record<string, string>> = { FLOAT: '1e-4', DOUBLE: '1e-9' };

const isFloat = ({ type }: ColumnHead): boolean => type in TOLERANCES;
