/*!
 * The assertions of a plan: SELECTs that must return true before the next statement is sent. The life of `emptyAssertion('t')`:
 * 1. The planner adds it to a draft. (If an assertion has `copy` or `conversion`, the planner and a dry run rely on what these say.)
 * 2. The plan has only its text: `SELECT count() = 0 AS is_empty FROM 't';`. Anybody may edit this text.
 * 3. sqlapply reads the text. `parseAssertion` finds the parser by the alias `is_empty`, makes the assertion again, and compares the texts.
 *    Only an identical text is an assertion. Anything else is a SELECT, which needs `--allow SELECT`.
 * 4. sqlapply sends it. If the answer is false, the plan ends, and `questions` and `formatReason` say why. (If an assertion is not
 *    `isFinal`, sqlapply first sends it again for some time.)
 *
 * The text of some assertions contains the query of a view, and `parseAssertion` cannot know whether this query is right. Such an
 * assertion has `printFor`, and the caller must check that `printFor` prints the text for the target's view (`fetchFitsTarget`).
 */
import { type Column, doubleQuote, hasNull, isArray, losesLoneSurrogates } from '@sqlpipe/ddl';
import type { ColumnHead, Conversion, LossKind, TableCopy } from '@sqlpipe/engine';
import { quoteLiteral, significantTokens } from '@sqlpipe/sql';
import { formatCount } from '@sqlpipe/text';
import { expiredRowsOf, formatAllowance } from '../losses.js';
import { CONVERSION_ASSERTION, printChangedOrMisfitQuestion, printMisfit } from './conversions.js';
import { PARTITION_STATES, type PartitionState } from './partition-states.js';
import {
  type ComparedView,
  type CopyWithCasts,
  parseCopy,
  printNothingIsLostAssertion,
  printSurplusAssertion,
} from './row-comparisons.js';
import {
  type ExpiryQuestion,
  type PeriodicView,
  parseExpired,
  printExpiredQuestion,
  printUnendedQuestion,
} from './rows-to-drop.js';
import { printComputableAssertion } from './with-queries.js';

/** For each of the `questions` of an assertion, the values of the first column of the server's answer. */
type FirstColumns = readonly (readonly unknown[])[];

export interface KnownView {
  /** The queries that the view may have, each with a WITH clause for the sources that the target lacks (`printWith`). */
  readonly bodies: readonly string[];
  /** The materialized view on the target; undefined if there is none. Its `body` includes the same WITH clause. */
  readonly existing?: ComparedView | undefined;
  readonly columns?: readonly ColumnHead[] | undefined;
}

type NameList = readonly [string, ...string[]];

export interface Assertion {
  readonly statement: string;
  /** First the table or materialized view that the assertion is about. Others follow: the other table of a copy, or more views. */
  readonly tables: NameList;
  /** Whether the answer `false` is final. Otherwise the server is asked again, because its background work may make the assertion true. */
  readonly isFinal?: boolean;
  /** The materialized view whose rows are compared with its query. A false answer is not final while the view lags behind its base. */
  readonly comparedView?: string;
  /** Whether `tables[0]` must not be written to while the plan runs. */
  readonly needsIdleTable?: boolean;
  /** Whether it is asked again before each REFRESH of its views, because no definition shows what it is about. */
  readonly isRepeated?: boolean;
  /** Whether the statement before the assertion copies the rows of `tables[0]`. */
  readonly followsCopy?: boolean;
  readonly purpose: string;
  /** Queries whose answers explain why the assertion is false. */
  readonly questions?: readonly string[];
  /** Says why the assertion is false. @param answers the answers to `questions` */
  formatReason(answers: FirstColumns): string;
  /** What to do if the server neither answers nor rejects the assertion in time. */
  readonly help?: string;
  /** Prints each text that the planner may have written for the view. Missing if the assertion contains no query of a view. */
  printFor?(view: KnownView): readonly string[];
  /** The loss if the assertion is false; set only for `none_expire`. If the user allows the loss, the planner makes no such assertion. */
  readonly lossKind?: LossKind;
  /** The copy that exists if the assertion is true. Its `columns` are empty if the text does not show them. */
  readonly copy?: TableCopy;
  readonly conversion?: Conversion;
}

/** An assertion that certain rows, values or partitions do not exist. Its only question counts those that exist. */
export interface CountingAssertion extends Assertion {
  readonly questions: readonly [string];
}

/** Parses an assertion; undefined for any other statement. If the result has `printFor`, the caller must check that it prints this text. */
export function parseAssertion(statement: string): Assertion | undefined {
  const [first] = significantTokens(statement);
  const text = statement.slice(first?.start); // without the comments before it
  const [, alias = ''] = /^SELECT .*? AS (\w+) FROM /s.exec(text) ?? [];
  const names = [...text.matchAll(/'([^']+)'/g)].map(([, name = '']) => name);
  const assertion = ASSERTION_PARSERS.get(alias)?.(text, names);
  return assertion?.statement === text ? assertion : undefined;
}

/** @param names what the text has in single quotes */
type AssertionParser = (text: string, names: readonly string[]) => Assertion | undefined;

/** The parsers by alias. For a text that is no assertion, a parser returns undefined, or an assertion with another `statement`. */
const ASSERTION_PARSERS = new Map<string, AssertionParser>(
  Object.entries({
    nothing_is_lost(text) {
      const [, view] = / AS nothing_is_lost FROM \([^']* FROM '([^']+)' (?:EXCEPT|UNION ALL) /.exec(text) ?? [];
      return view === undefined ? undefined : toNothingIsLostAssertion(view, text);
    },
    none_expire(text) {
      const question = parseExpired(text);
      return question && noneExpireAssertion(question);
    },
    none_unended(text, [name = '', length = '', unit = '', timeZone]) {
      const [, timestamp, delay] = /^[^"]*"([^"]+)" >= .*-(\d+), now\(\)/.exec(text) ?? [];
      return noneUnendedAssertion({ name, timestamp, refresh: { period: { length, delay: delay + unit }, timeZone } });
    },
    // The answer is always true (`sqlpipe_rows >= 0`). But a server that cannot compute the query rejects the assertion.
    is_computable: text =>
      /^SELECT sqlpipe_rows >= 0 AS is_computable .*\n\) "[^"]+" LIMIT 1\);$/s.test(text)
        ? computableAssertion(text)
        : undefined,
    none_limited: (_, [view = '', ...others]) => noneLimitedAssertion([view, ...others]),
    is_empty(text, [table = '']) {
      // Matches what `printValueCondition` prints, and nothing else: anybody may have written the text.
      const [, condition] = / WHERE ("[^"]+" (?:(?:::VARCHAR )?IS NOT NULL|<> 0|= true));$/.exec(text) ?? [];
      return emptyAssertion(table, condition);
    },
    none_null(text, [table = '']) {
      const [, column = ''] = /"([^"]+)"/.exec(text) ?? [];
      return noneNullAssertion(table, column);
    },
    all_fit: parseConversionAssertion,
    none_changed: parseConversionAssertion,
    all_native: (_, [table = '']) => noPartitionAssertion(table, 'isParquet'),
    all_attached: (_, [table = '']) => noPartitionAssertion(table, 'detached'),
    all_writable: (_, [table = '']) => noPartitionAssertion(table, 'readOnly'),
    all_applied: (_, [table = '']) => allAppliedAssertion(table),
    as_many_rows: (_, [from = '', to = '']) => asManyRowsAssertion(from, to),
    all_copied: text => allCopiedAssertion(parseCopy(text)),
    none_added: text => noneAddedAssertion(parseCopy(text)),
  } satisfies Record<string, AssertionParser>),
);

/** By alias, what a server without rows answers to the planner's queries: assertions are true, and nothing is lost. */
export const ROWLESS_ANSWERS = new Map<string, { readonly type: string; readonly value: true | 0 | null }>([
  ...Array.from(ASSERTION_PARSERS.keys(), alias => [alias, { type: 'BOOLEAN', value: true }] as const),
  ['rows_lost', { type: 'LONG', value: 0 }],
  ['first_lost', { type: 'TIMESTAMP', value: null }],
  ['last_lost', { type: 'TIMESTAMP', value: null }],
]);

/** Matches `printHistoryQuestion`, `printUnendedRange` and `printCompileQuestion`. */
const QUESTION =
  /^SELECT (?:(?:coalesce\(sum\(CASE WHEN sqlpipe_.*?\), 0\)|count\(\)) rows_lost, min\(|count\(\) >= 0 AS is_computable FROM \(SELECT \* FROM \(\n)/s;

/** Whether `ROWLESS_ANSWERS` has the answers to a query: an assertion of a plan, or another question of a planner. */
export const isPlanQuery = (query: string): boolean =>
  QUESTION.test(query) || parseAssertion(query.trimEnd().replace(/;?$/, ';')) !== undefined;

function parseConversionAssertion(text: string): Assertion | undefined {
  const [, table = '', from = '', to = '', column = ''] = CONVERSION_ASSERTION.exec(text) ?? [];
  return column === '' ? undefined : conversionAssertion({ table, column, from, to });
}

const countOf = (answers: FirstColumns, index = 0): number => Number(answers[index]?.[0]);

const formatCountOf = (answers: FirstColumns, what: string): string => formatCount(countOf(answers), what);

/** Makes the common parts of a `CountingAssertion`. */
const noneAssertion = (table: string, question: string, alias: string) =>
  ({
    statement: `${question.replace('count()', `count() = 0 AS ${alias}`)};`,
    tables: [table],
    isFinal: true,
    questions: [question],
  }) as const;

export const nothingIsLostAssertion = (view: ComparedView, columns?: readonly ColumnHead[]): Assertion =>
  toNothingIsLostAssertion(view.name, printNothingIsLostAssertion(view, columns));

function toNothingIsLostAssertion(view: string, statement: string): Assertion {
  const problem = `materialized view '${view}' holds rows that its query no longer returns`;
  return {
    statement,
    tables: [view],
    comparedView: view,
    purpose: `stops the plan if ${problem}`,
    formatReason: () => `${problem}; make the plan again: the new plan says what would be lost`,
    // If the planner knew the columns, the text has a tolerance for floating point. If not, it has none. Both texts are valid.
    printFor: ({ existing, columns }) =>
      existing ? [undefined, columns].map(known => printNothingIsLostAssertion(existing, known)) : [],
  };
}

/** Asserts that none of these views has a refresh limit. No dump shows refresh limits, so the plan has to ask the server. */
export function noneLimitedAssertion(views: NameList): Assertion {
  const list = views.map(quoteLiteral).join(', ');
  return {
    statement: `SELECT count() = 0 AS none_limited FROM materialized_views() WHERE view_name IN (${list}) AND refresh_limit <> 0;`,
    tables: views,
    isFinal: true,
    isRepeated: true,
    purpose: `stops the plan if ${list} ${views.length === 1 ? 'has' : 'have'} a refresh limit, because a refresh would lose rows beyond it`,
    formatReason: () =>
      `${views.length === 1 ? '' : 'one of '}${list} has a refresh limit, and a refresh would lose rows beyond it; make the plan again: the new plan says what would be lost`,
  };
}

/** Asserts that no row has expired. */
export function noneExpireAssertion({ retained, body }: ExpiryQuestion): CountingAssertion {
  const { name } = retained;
  return {
    ...noneAssertion(name, printExpiredQuestion({ retained, body }), 'none_expire'),
    lossKind: 'ttl',
    purpose: `stops the plan if '${name}' has rows older than its TTL, because the server would drop such rows`,
    formatReason: answers =>
      `'${name}' has ${formatCountOf(answers, 'row')} older than its TTL, and the server would drop such rows; plan again with ${formatAllowance(expiredRowsOf(name))} to allow that`,
    ...(body !== undefined && {
      printFor: ({ existing }) => (existing ? [noneExpireAssertion({ retained, body: existing.body }).statement] : []),
    }),
  };
}

export function noneUnendedAssertion(view: PeriodicView): CountingAssertion {
  const { name } = view;
  return {
    ...noneAssertion(name, printUnendedQuestion(view), 'none_unended'),
    purpose: `stops the plan if '${name}' has rows of a period that has not ended, because a refresh would lose such rows`,
    formatReason: answers =>
      `'${name}' has ${formatCountOf(answers, 'row')} of a period that has not ended, and a refresh would lose such rows; plan again with ${formatAllowance({ lossKind: 'history', object: name })} to allow that`,
  };
}

/** @param statement as `printComputableAssertion` prints it */
export function computableAssertion(statement: string): Assertion {
  const [, view = ''] = / "([^"]+)" LIMIT 1\);$/.exec(statement) ?? [];
  return {
    statement,
    tables: [view],
    isFinal: true,
    purpose: `stops the plan if the server rejects the query of materialized view '${view}' over the tables as they will be`,
    formatReason: () =>
      `the server cannot compute the query of materialized view '${view}' over the tables as they will be`,
    printFor: ({ bodies }) => bodies.map(body => printComputableAssertion(view, body)),
  };
}

/** @param condition what `printValueCondition` prints for a column; undefined for the complete table */
export function emptyAssertion(table: string, condition?: string): CountingAssertion {
  const [, name] = /^"([^"]+)"/.exec(condition ?? '') ?? [];
  const [holder, what] = name === undefined ? [`'${table}'`, 'row'] : [`column '${name}' of '${table}'`, 'value'];
  return {
    ...noneAssertion(table, printCountQuestion(table, condition), 'is_empty'),
    purpose: `stops the plan if ${holder} has ${what}s`,
    formatReason: answers => `${holder} has ${formatCountOf(answers, what)}, which would be lost`,
  };
}

export function noneNullAssertion(table: string, column: string): CountingAssertion {
  const name = `column '${column}' of '${table}'`;
  return {
    ...noneAssertion(table, printCountQuestion(table, `${doubleQuote(column)} IS NULL`), 'none_null'),
    purpose: `stops the plan if ${name} has NULLs, because a designated timestamp cannot be NULL`,
    formatReason: answers =>
      `${name} is NULL in ${formatCountOf(answers, 'row')}, but a designated timestamp cannot be NULL; UPDATE the column first`,
  };
}

/** Asserts `all_fit` if some values of the old type might not fit into the new one (`printMisfit`). Otherwise asserts `none_changed`. */
export function conversionAssertion(conversion: Conversion): CountingAssertion {
  const { table, column, from, to } = conversion;
  const [name, question] = [`column '${column}' of '${table}'`, printChangedOrMisfitQuestion(conversion)];
  if (printMisfit(conversion) === undefined)
    return {
      ...noneAssertion(table, question, 'none_changed'),
      purpose: `stops the plan if the new type would change values of ${name}`,
      formatReason: answers =>
        `${name}: ${countOf(answers)} of its values would change; make the plan again: the new plan says what would be lost`,
      conversion,
    };
  const does = losesLoneSurrogates(from, to)
    ? 'become ?, because they have half of a surrogate pair'
    : 'suspend the table';
  return {
    ...noneAssertion(table, question, 'all_fit'),
    purpose: `stops the plan if ${name} has values that do not fit into the new type: they would ${does}`,
    formatReason: answers => `${name}: ${formatMisfits(countOf(answers), conversion)}`,
    conversion,
  };
}

/** Asserts that no partition of a table is in the given state, such as Parquet. The alias names the opposite, such as `all_native`. */
export function noPartitionAssertion(table: string, state: PartitionState): CountingAssertion {
  const { alias, adjective, problem, formatAdvice } = PARTITION_STATES[state];
  const what = `${adjective} partitions`;
  return {
    ...noneAssertion(table, `SELECT count() FROM table_partitions(${quoteLiteral(table)}) WHERE ${state}`, alias),
    purpose: `stops the plan if '${table}' has ${what}: ${problem}`,
    formatReason: answers => `'${table}' has ${what} (${countOf(answers)}): ${problem}; ${formatAdvice(table)} first`,
  };
}

/** Asserts that the server has applied all rows sent to a table. False if the table is suspended, true for a table without WAL. */
export function allAppliedAssertion(table: string): Assertion {
  return {
    statement: `SELECT coalesce(max(CASE WHEN writerTxn = sequencerTxn AND NOT suspended THEN 0 ELSE 1 END), 0) = 0 AS all_applied FROM wal_tables() WHERE name = ${quoteLiteral(table)};`,
    tables: [table],
    needsIdleTable: true,
    purpose: `stops the plan unless all rows that were sent to '${table}' are applied`,
    formatReason: () => `rows that were sent to '${table}' are not applied yet; wait, or RESUME WAL if it is suspended`,
  };
}

export const formatOverwriting = (keys: readonly unknown[]): string =>
  `rows with the same dedup keys (${keys.join(', ')}) overwrite each other`;

export function asManyRowsAssertion(from: string, to: string): Assertion {
  return {
    statement: `SELECT a.n = b.n AS as_many_rows FROM (SELECT count() n FROM ${quoteLiteral(from)}) a CROSS JOIN (SELECT count() n FROM ${quoteLiteral(to)}) b;`,
    tables: [from, to],
    followsCopy: true,
    purpose: `stops the plan if '${from}' and '${to}' have different numbers of rows`,
    questions: [
      printCountQuestion(from),
      printCountQuestion(to),
      `SELECT "column" FROM table_columns(${quoteLiteral(to)}) WHERE upsertKey`,
    ],
    formatReason(answers) {
      const [old, copied, keys = []] = [countOf(answers), countOf(answers, 1), answers[2]];
      const reason =
        copied < old && keys.length > 0
          ? formatOverwriting(keys)
          : `stop all programs that write to '${from}', and make the plan again`;
      return `'${from}' has ${old} rows, '${to}' has ${copied}; ${reason}`;
    },
    copy: { from, to, columns: [] },
  };
}

/** Asserts that `to` has each row of `from` at least as often as `from` has it. Only the copied columns are compared. */
export const allCopiedAssertion = (copy: CopyWithCasts): Assertion => ({
  ...noSurplusAssertion(copy.from, copy.to, printSurplusAssertion(copy, '>', 'all_copied')),
  copy,
});

/** Asserts that `to` has no row more often than `from`. Only the copied columns are compared. */
export const noneAddedAssertion = (copy: CopyWithCasts): Assertion =>
  noSurplusAssertion(copy.to, copy.from, printSurplusAssertion(copy, '<', 'none_added'));

function noSurplusAssertion(dropped: string, kept: string, statement: string): Assertion {
  const problem = `'${dropped}' has rows that '${kept}' does not have, or holds some rows more often than '${kept}'`;
  const help = `compare the two tables, insert the missing rows that you need into '${kept}', then send DROP TABLE '${dropped}';`;
  return {
    statement,
    tables: [dropped, kept],
    isFinal: true,
    purpose: `stops the plan if ${problem}`,
    formatReason: () => `${problem}; ${help}`,
    help,
  };
}

export function formatMisfits(count: number, { from, to }: Conversion): string {
  const [value, does, them] = count === 1 ? ['value', 'does', 'it'] : ['values', 'do', 'them'];
  const why = losesLoneSurrogates(from, to)
    ? ': half of a surrogate pair would become ?'
    : ', and the table would be suspended';
  return `${count} ${value} ${does} not fit${why}; UPDATE ${them} first`;
}

const printCountQuestion = (table: string, condition?: string): string =>
  `SELECT count() FROM ${quoteLiteral(table)}${condition === undefined ? '' : ` WHERE ${condition}`}`;

/**
 * Prints the condition for values that are lost if a column is dropped and added again. The new column has NULL in every row, so a NULL
 * is not lost. A type without NULL has 0 (or false) there, so a 0 is not lost. QuestDB 9.3.4 cannot compare an array with NULL, so the
 * text of the array is compared.
 */
export function printValueCondition({ name, type }: Pick<Column, 'name' | 'type'>): string {
  const column = doubleQuote(name);
  if (isArray(type)) return `${column} ::VARCHAR IS NOT NULL`;
  if (hasNull(type)) return `${column} IS NOT NULL`;
  return type === 'BOOLEAN' ? `${column} = true` : `${column} <> 0`;
}
