/*!
 * Prints questions that compare rows: those of a materialized view with its query, and those of a table with its copy. Each form was tried
 * on 9.3.4, also while rows were written.
 */
import { doubleQuote, flagExactItems, type MaterializedViewDefinition } from '@sqlpipe/ddl';
import type { ColumnHead, StoredRows, TableCopy } from '@sqlpipe/engine';
import { quoteLiteral } from '@sqlpipe/sql';

/** No column of a question may begin with this prefix of its aliases. */
function chooseAliasPrefix(columns: readonly string[]): string {
  const lengths = columns.map(name => /^sqlpipe(_+)/i.exec(name)?.[1]?.length ?? 0);
  return `sqlpipe_${'_'.repeat(lengths.reduce((longest, length) => Math.max(longest, length), 0))}`;
}

export interface HistoryAnswer {
  readonly answer: StoredRows;
  /** Undefined if the server does not show them. */
  readonly columns: readonly ColumnHead[] | undefined;
}

/** @param printQuestion prints the question; needs the timestamp and the columns that the server shows */
export type FetchHistory = (
  view: MaterializedViewDefinition,
  printQuestion: (timestamp: string, columns: readonly ColumnHead[]) => string,
) => Promise<HistoryAnswer>;

export type ComparedView = Pick<MaterializedViewDefinition, 'name' | 'body' | 'base'>;

/**
 * A line feed follows the query, because the query may end in a `--` comment.
 * @param columns those of the view; without them, equal rows count as one, and sums that differ in their last digits count as lost
 */
export function printNothingIsLostAssertion(view: ComparedView, columns?: readonly ColumnHead[]): string {
  if (!columns)
    return `SELECT count() = 0 AS nothing_is_lost FROM (SELECT * FROM ${quoteLiteral(view.name)} EXCEPT (\n${view.body}\n));`;
  return `SELECT coalesce(sum(${printLostRow(view, columns)}), 0) = 0 AS nothing_is_lost FROM ${printDifferences(view, columns)};`;
}

/** Equal rows count once. sqlserve recognizes the question by the names of its columns, see `ROWLESS_ANSWERS`. */
export function printHistoryQuestion(view: ComparedView, timestamp: string, columns: readonly ColumnHead[]): string {
  const lost = printLostRow(view, columns);
  const time = (order: 'min' | 'max') => `${order}(CASE WHEN ${lost} = 1 THEN ${doubleQuote(timestamp)} END)`;
  return `SELECT coalesce(sum(${lost}), 0) rows_lost, ${time('min')} first_lost, ${time('max')} last_lost FROM ${printDifferences(view, columns)}`;
}

/**
 * Compares the rows of a view with those of its query. For a view with the columns `ts` and `total` (computed), it prints
 *     SELECT ts, sum(side) more, min(total) low0, max(total) high0, … FROM (SELECT 1 side, * FROM 'view' UNION ALL SELECT -1 side, …)
 * So `more` is how much more often the view has a row. The callers use `sum`: 9.3.4 leaves out columns for `count()`, and is wrong then.
 */
function printDifferences(view: ComparedView, columns: readonly ColumnHead[]): string {
  const computed = findComputedColumns(view, columns);
  const prefix = chooseAliasPrefix(columns.map(({ name }) => name));
  const stored = columns.filter(column => !computed.includes(column));
  // `min` and `max` may return any NaN, and 0 or -0. These would be different keys. So a NaN becomes NULL, and -0 becomes 0.
  const keys = stored.map((column, i) => {
    const value = doubleQuote(column.name);
    return isFloat(column) ? `CASE WHEN ${value} IS NOT NULL THEN ${value} + 0 END ${prefix}key${i}` : value;
  });
  const ranges = computed.flatMap((column, i) => {
    const value = doubleQuote(column.name);
    return [
      `min(${value}) ${prefix}low${i}`,
      `max(${value}) ${prefix}high${i}`,
      `sum(CASE WHEN ${value} IS NOT NULL THEN ${prefix}side ELSE 0 END) ${prefix}more${i}`,
    ];
  });
  const both = `SELECT 1 ${prefix}side, * FROM ${quoteLiteral(view.name)} UNION ALL SELECT -1 ${prefix}side, * FROM (\n${view.body}\n)`;
  return `(SELECT ${[...keys, `sum(${prefix}side) ${prefix}more`, ...ranges].join(', ')} FROM (${both}))`;
}

/** Prints 1 for a row of `printDifferences` that is lost: also if a computed value is NULL in the query, or beyond its tolerance. */
function printLostRow(view: ComparedView, columns: readonly ColumnHead[]): string {
  const prefix = chooseAliasPrefix(columns.map(({ name }) => name));
  const differ = findComputedColumns(view, columns).map(({ type }, i) => {
    const [low, high] = [`${prefix}low${i}`, `${prefix}high${i}`];
    return `${prefix}more${i} > 0 OR (${high} - ${low}) / (abs(${high}) + abs(${low})) > ${TOLERANCES[type]}`;
  });
  return `CASE WHEN ${[`${prefix}more > 0`, ...differ].join(' OR ')} THEN 1 ELSE 0 END`;
}

/** The last digits of a computed floating point value may differ from one run of the query to the next. */
function findComputedColumns({ body, base = '' }: ComparedView, columns: readonly ColumnHead[]): ColumnHead[] {
  const exact = flagExactItems(body, base);
  return columns.filter((column, index) => isFloat(column) && !(exact.length === columns.length && exact[index]));
}

/**
 * The maximum of |a - b| / (|a| + |b|), so a loss is noticed from twice this on. It is a ratio, because for a server, values that differ
 * by less than 1e-10 are equal. The numbers below are the largest differences between parallel and serial results, with up to 200,000
 * rows in a group (measured on 9.3.4). What exceeds the tolerance is in docs/PLANS.md.
 */
const TOLERANCES: Readonly<Record<string, string>> = {
  FLOAT: '1e-4', // computed only by `sum`: 1.6e-5 of positive values; more if values cancel (2e-4), or of millions of rows (6e-3)
  DOUBLE: '1e-9', // 6e-14 of positive values, 6e-13 if values cancel, and of correlations; more of deviations far below their values (2e-7)
};

const isFloat = ({ type }: ColumnHead): boolean => type in TOLERANCES;

/** SQL for the text of an array. QuestDB 9.3.4 cannot group rows by an array. */
export const printArrayText = (column: string): string => `${doubleQuote(column)} ::VARCHAR`;

export interface CopyWithCasts extends TableCopy {
  /** `cast` is SQL that converts a value of `from` to the type of `to`. */
  readonly columns: readonly { readonly from: string; readonly to: string; readonly cast: string }[];
}

/** Adds up 1 and -1, because 9.3.4 miscounts groups of a UNION ALL. @param sign `>`: no row is more often in `from`; `<`: in `to` */
export function printSurplusAssertion({ from, to, columns }: CopyWithCasts, sign: '>' | '<', alias: string): string {
  const names = columns.map(column => doubleQuote(column.to)).join(', ');
  const values = columns.map(column => `${column.cast} ${doubleQuote(column.to)}`).join(', ');
  const prefix = chooseAliasPrefix(columns.map(column => column.to));
  const [side, more] = [`${prefix}side`, `${prefix}more`];
  const copies = columns.map(({ from, to, cast }) =>
    cast === printArrayText(from) ? printArrayText(to) : doubleQuote(to),
  );
  const both = `SELECT 1 ${side}, ${values} FROM ${quoteLiteral(from)} UNION ALL SELECT -1, ${copies.join(', ')} FROM ${quoteLiteral(to)}`;
  const rows = `SELECT ${names}, sum(${side}) ${more} FROM (${both}) GROUP BY ${names}`;
  return `SELECT coalesce(sum(CASE WHEN ${more} ${sign} 0 THEN ${more} ELSE 0 END), 0) = 0 AS ${alias} FROM (${rows});`;
}

/** Counts the rows that a copy lacks, because the server keeps one of those with the same keys. `sum`, because 9.3.4 miscounts groups. */
export function printDuplicatesQuestion(from: string, keys: CopyWithCasts['columns']): string {
  const values = keys.map(({ cast, to }) => `${cast} ${doubleQuote(to)}`).join(', ');
  const rows = `${chooseAliasPrefix(keys.map(({ to }) => to))}rows`;
  return `SELECT coalesce(sum(${rows} - 1), 0) FROM (SELECT ${values}, count() ${rows} FROM ${quoteLiteral(from)})`;
}

const CAST =
  /(?:CAST\((?:CAST\()?"([^"]+)"(?: AS STRING\))? AS [\w(),]+\)|"([^"]+)"(?: ::VARCHAR)?) "([^"]+)"(?:, |$)/g;

/** Without columns if it is no `printSurplusAssertion`. The text is cut first, because one pattern for it would take quadratic time. */
export function parseCopy(text: string): CopyWithCasts {
  const middle = text.lastIndexOf(' UNION ALL SELECT -1, ');
  const [, side = ''] = text.slice(0, middle).split(/ FROM \(SELECT 1 sqlpipe_+side, /);
  const [, values = '', from = ''] = /^(.+) FROM '([^']+)'$/.exec(side) ?? [];
  const [, to = ''] = / FROM '([^']+)$/.exec(text.slice(middle, text.lastIndexOf("') GROUP BY "))) ?? [];
  const columns = [...values.matchAll(CAST)].map(([all, cast, bare, name = '']) => ({
    from: cast ?? bare ?? '',
    to: name,
    cast: all.slice(0, all.lastIndexOf(` "${name}"`)),
  }));
  return { from, to, columns };
}
