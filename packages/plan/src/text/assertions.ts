/*!
 * The assertions of a plan: SELECTs that must return true before the next statement is sent. An assertion is recognized by its text,
 * because a plan is a stream that anybody may have edited. The alias of its only column names its form, and the parser of that form reads
 * the text. The text is accepted only if the assertion that was read prints the same text. Only this file knows all forms; those about
 * history, expiry and queries are printed by files of their own.
 */
import { type Column, decimalLimits, hasNull, type MaterializedViewDefinition, printTypeCast } from '@sqlpipe/ddl';
import type { ColumnHead, Copy } from '@sqlpipe/engine';
import { printComputableAssertion } from './common-queries.js';
import { parseExpired, printExpiredQuestion, type Retained } from './expiry.js';
import { LOST_ROWS, printHistoryAssertion } from './history.js';
import { doubleQuote, withoutComments } from './statement-text.js';

/** The values of the first column that each question returns. */
type Answers = readonly (readonly unknown[])[];

/** What is known of the view that an assertion is about. Its queries begin with the same WITH clause as the one in the assertion. */
interface KnownView {
  /** The queries that the view may have. */
  readonly bodies: readonly string[];
  /** The view, if the target has it as a materialized view. */
  readonly existing?: Pick<MaterializedViewDefinition, 'name' | 'body' | 'base'> | undefined;
  /** The columns of the existing view, as the target lists them. */
  readonly columns?: readonly ColumnHead[] | undefined;
}

/** A SELECT of a plan, and what it means. */
export interface Assertion {
  readonly statement: string;
  /** The table or materialized view that it is about, and the table that holds a copy of its rows. */
  readonly tables: readonly [string, ...string[]];
  /** Whether the answer `false` is final. Otherwise background work of the server may still make it true. */
  readonly isFinal?: boolean;
  /** The materialized view that may lag behind its base while rows are written: the server's next refresh may make it true. */
  readonly laggingView?: string;
  /** Whether nothing may write to its table while the plan is applied. */
  readonly needsIdleTable?: boolean;
  /** Whether it comes after the statements that copy the rows of `tables[0]`. */
  readonly followsCopy?: boolean;
  /** What it does, for the comment in the plan. */
  readonly purpose: string;
  /** The queries whose answers explain why it is false. */
  readonly questions?: readonly string[];
  /** Explains why it is false, and what to do. @param answers the answers to the questions */
  explain(answers: Answers): string;
  /** What to do if the server cannot answer it. */
  readonly help?: string;
  /** The texts that the planner prints for a view; absent if the assertion contains no query of a view. */
  printFor?(view: KnownView): readonly string[];
  /** The copy that exists if it is true. It has no columns if only the numbers of rows are compared. */
  readonly copy?: Copy;
}

/** Parses an assertion; undefined for any other statement. The query of a view in it is not checked: compare it with `printFor`. */
export function parseAssertion(statement: string): Assertion | undefined {
  const text = withoutComments(statement);
  const [, form = ''] = /^SELECT .*? AS (\w+) FROM /s.exec(text) ?? [];
  const assertion = Object.hasOwn(FORMS, form) ? FORMS[form]?.(text) : undefined;
  return assertion?.statement === text ? assertion : undefined;
}

/** Makes the parser of a form. It passes the groups of the pattern, then the whole text, to `toAssertion`. */
const parser =
  (pattern: RegExp, toAssertion: (...groups: string[]) => Assertion | undefined) =>
  (text: string): Assertion | undefined => {
    const match = pattern.exec(text);
    return match ? toAssertion(...match.slice(1), text) : undefined;
  };

/** The parser of each form. For a text that is no assertion, it returns undefined, or an assertion with another `statement`. */
const FORMS: Readonly<Record<string, (text: string) => Assertion | undefined>> = {
  nothing_is_lost: parser(/ AS nothing_is_lost FROM \([^']* FROM '([^']+)' (?:EXCEPT|UNION ALL) /, historyAssertionOf),
  none_expire(text) {
    const { retained, body } = parseExpired(text) ?? {};
    return retained && expiryAssertion(retained, body);
  },
  is_computable: parser(
    /^(SELECT sqlpipe_rows >= 0 AS is_computable .*\n\) "[^"]+" LIMIT 1\);)$/s,
    computableAssertion,
  ),
  none_limited: parser(
    /^SELECT count\(\) = 0 AS none_limited FROM materialized_views\(\) WHERE view_name IN \('(.+)'\) AND refresh_limit <> 0;$/,
    names => limitAssertion(names.split("', '")),
  ),
  is_empty: parser(
    /^SELECT count\(\) = 0 AS is_empty FROM '([^']+)'(?: WHERE ("[^"]+" (?:(?:::VARCHAR )?IS NOT NULL|<> 0|= true)))?;$/,
    emptinessAssertion,
  ),
  all_fit: parser(
    /^SELECT count\(\) = 0 AS all_fit FROM '([^']+)' WHERE "([^"]+)" (?:>= (10*m?) )?(?:.*% ((?:1|0\.0*1)m) <> 0m)?/,
    (table = '', column = '', limit, unit) => fitAssertion(table, printLimits(column, limit, unit)),
  ),
  all_native: parser(/ FROM table_partitions\('([^']+)'\) WHERE isParquet;$/, table =>
    partitionAssertion(table, 'isParquet'),
  ),
  all_attached: parser(/ FROM table_partitions\('([^']+)'\) WHERE detached;$/, table =>
    partitionAssertion(table, 'detached'),
  ),
  all_applied: parser(/ FROM wal_tables\(\) WHERE name = '([^']+)';$/, appliedAssertion),
  as_many_rows: parser(/FROM '([^']+)'\) a CROSS JOIN \(SELECT count\(\) n FROM '([^']+)'\) b;$/, rowCountAssertion),
  all_copied(text) {
    const copy = parseCopy(text);
    return copy && copyAssertion(copy);
  },
};

/** What a server without rows answers to assertions and to questions of the planner, by the alias of the only column. */
export const ROWLESS_ANSWERS = new Map<string, { readonly type: string; readonly value: true | 0 | null }>([
  ...Object.keys(FORMS).map(form => [form, { type: 'BOOLEAN', value: true }] as const),
  ...LOST_ROWS,
]);

/** The number in an answer. */
const countOf = (answers: Answers, at = 0): number => Number(answers[at]?.[0]);

/** The common part of the assertions that a count is 0. @param question the query for the count */
const assertNone = (table: string, question: string, form: string) =>
  ({
    statement: `${question.replace('count()', `count() = 0 AS ${form}`)};`,
    tables: [table],
    isFinal: true,
    questions: [question],
  }) as const;

/** The assertion that a materialized view holds no rows that its query no longer gives. */
export const historyAssertion = (...view: Parameters<typeof printHistoryAssertion>): Assertion =>
  historyAssertionOf(view[0].name, printHistoryAssertion(...view));

function historyAssertionOf(view: string, statement: string): Assertion {
  const problem = `materialized view '${view}' holds rows that its query no longer gives`;
  return {
    statement,
    tables: [view],
    laggingView: view,
    purpose: `stops the plan if ${problem}`,
    explain: () => `${problem}; make the plan again, which lists them`,
    // With the columns, floating point values are compared with a tolerance. A planner that asked no server does not know them.
    printFor: ({ existing, columns }) =>
      existing ? [undefined, columns].map(known => printHistoryAssertion(existing, known)) : [],
  };
}

/** The assertion that views have no refresh limit: a refresh in full does not compute what is older. No dump contains the limit. */
export function limitAssertion(views: readonly string[]): Assertion {
  const list = views.map(view => `'${view}'`).join(', ');
  return {
    statement: `SELECT count() = 0 AS none_limited FROM materialized_views() WHERE view_name IN (${list}) AND refresh_limit <> 0;`,
    tables: [views[0] ?? '', ...views.slice(1)],
    isFinal: true,
    purpose: `stops the plan if ${list} ${views.length === 1 ? 'has' : 'have'} a refresh limit, because a refresh would lose older rows`,
    explain: () =>
      `a materialized view of ${list} has a refresh limit, and a refresh would lose older rows; make the plan again for the instance, which names the loss`,
  };
}

/** The assertion that an object has no rows that its TTL has expired. @param body the query of a view */
export function expiryAssertion(retained: Retained, body?: string): Assertion {
  const { name } = retained;
  return {
    ...assertNone(name, printExpiredQuestion(retained, body), 'none_expire'),
    purpose: `stops the plan if '${name}' has rows that its TTL has expired, which the server would drop`,
    explain(answers) {
      const rows = countOf(answers) === 1 ? 'row' : 'rows';
      return `'${name}' has ${countOf(answers)} ${rows} that its TTL has expired, which the server would drop; make the plan again, which lists them`;
    },
    ...(body !== undefined && {
      printFor: ({ existing }) => (existing ? [expiryAssertion(retained, existing.body).statement] : []),
    }),
  };
}

/** The assertion that a server can compute the query of a view. @param statement its text */
export function computableAssertion(statement: string): Assertion {
  const [, view = ''] = / "([^"]+)" LIMIT 1\);$/.exec(statement) ?? [];
  return {
    statement,
    tables: [view],
    isFinal: true,
    purpose: `stops the plan if the server rejects the query of materialized view '${view}' over what it will read`,
    explain: () => 'its query cannot be computed',
    printFor: ({ bodies }) => bodies.map(body => printComputableAssertion(view, body)),
  };
}

/** The assertion that a table has no rows, or a column no values. @param condition for a value of the column, see `printValueCondition` */
export function emptinessAssertion(table: string, condition?: string): Assertion {
  const [, name] = /^"([^"]+)"/.exec(condition ?? '') ?? [];
  const [holder, what] = name === undefined ? [`'${table}'`, 'row'] : [`column '${name}' of '${table}'`, 'value'];
  return {
    ...assertNone(table, printCountQuestion(table, condition), 'is_empty'),
    purpose: `stops the plan if ${holder} has ${what}s`,
    explain: answers =>
      `${holder} has ${countOf(answers)} ${what}${countOf(answers) === 1 ? '' : 's'}, which would be lost`,
  };
}

/** The assertion before a conversion of a column. At a value that does not fit, the server would stop halfway. */
function fitAssertion(table: string, misfit: string): Assertion {
  return {
    ...assertNone(table, printCountQuestion(table, misfit), 'all_fit'),
    purpose: `stops the plan if '${table}' has values that do not fit into the new type, which would suspend it`,
    explain: answers => `'${table}': ${describeMisfits(countOf(answers))}`,
  };
}

/** The assertions that the values of a column fit into another type. */
export function fitAssertions(table: string, { name, type }: Column, to: string): Assertion[] {
  const misfit = printMisfit(name, type, to);
  return misfit === undefined ? [] : [fitAssertion(table, misfit)];
}

/** The states of partitions that assertions are about, by the columns of `table_partitions`. */
const PARTITIONS = {
  isParquet: {
    form: 'all_native',
    what: 'Parquet partitions',
    problem: 'which ADD COLUMN and DROP COLUMN would make unreadable; a change of a type would suspend the table',
    explain: (table: string) => `; ${adviseNative(table)}`,
  },
  detached: {
    form: 'all_attached',
    what: 'detached partitions',
    problem: 'which do not follow a change of the table, and which DROP TABLE deletes',
    explain: () => `, ${PARTITIONS.detached.problem}; attach them`,
  },
} as const;

export type PartitionState = keyof typeof PARTITIONS;

/** The assertion that no partition is in this state. Queries do not see detached partitions, but DROP TABLE deletes them. */
export function partitionAssertion(table: string, state: PartitionState): Assertion {
  const { form, what, problem, explain } = PARTITIONS[state];
  return {
    ...assertNone(table, printPartitionQuestion(table, state), form),
    purpose: `stops the plan if '${table}' has ${what}, ${problem}`,
    explain: answers => `'${table}' has ${what} (${countOf(answers)})${explain(table)}`,
  };
}

/** The assertion that all rows that were sent to a table are applied. For a table without WAL, it is always true. */
export function appliedAssertion(table: string): Assertion {
  return {
    statement: `SELECT coalesce(max(CASE WHEN writerTxn = sequencerTxn AND NOT suspended THEN 0 ELSE 1 END), 0) = 0 AS all_applied FROM wal_tables() WHERE name = '${table}';`,
    tables: [table],
    needsIdleTable: true,
    purpose: `stops the plan unless all rows that were sent to '${table}' are applied`,
    explain: () => `rows that were sent to '${table}' are not applied yet; wait, or RESUME WAL if it is suspended`,
  };
}

/** The assertion that a table and its copy have the same number of rows. */
export function rowCountAssertion(from: string, to: string): Assertion {
  return {
    statement: `SELECT a.n = b.n AS as_many_rows FROM (SELECT count() n FROM '${from}') a CROSS JOIN (SELECT count() n FROM '${to}') b;`,
    tables: [from, to],
    followsCopy: true,
    purpose: `stops the plan if '${from}' and '${to}' have different numbers of rows`,
    questions: [
      printCountQuestion(from),
      printCountQuestion(to),
      `SELECT "column" FROM table_columns('${to}') WHERE upsertKey`,
      `SELECT ttlValue FROM tables() WHERE table_name = '${to}'`,
    ],
    explain(answers) {
      const [old, copied, keys = []] = [countOf(answers), countOf(answers, 1), answers[2]];
      const overwritten = `rows with the same dedup keys (${keys.join(', ')}) overwrite each other`;
      const expired = `the TTL of '${to}' expires some while they are copied; first apply a plan for '${from}' without a TTL, then one that sets it`;
      const lost = [...(keys.length > 0 ? [overwritten] : []), ...(countOf(answers, 3) > 0 ? [expired] : [])];
      const [reason = `stop all programs that write to '${from}', and make the plan again`] = copied < old ? lost : [];
      return `'${from}' has ${old} rows, '${to}' has ${copied}; ${reason}`;
    },
    copy: { from, to, columns: [] },
  };
}

/** SQL that converts a value of column `from` to the type of `to`. */
export const printCast = (from: Column, to: Column): string =>
  from.type === to.type ? doubleQuote(from.name) : printTypeCast(doubleQuote(from.name), from.type, to.type);

/** A table whose rows are also in another table. */
interface CopiedTable extends Copy {
  /** The columns in both tables. `cast` is SQL for the value in the other table. */
  readonly columns: readonly { readonly from: string; readonly to: string; readonly cast: string }[];
}

/** The assertion that `to` has each row of `from`, duplicates included. It uses `sum`, because 9.3.4 miscounts groups of a UNION ALL. */
export function copyAssertion(copy: CopiedTable): Assertion {
  const { from, to, columns } = copy;
  const names = columns.map(column => doubleQuote(column.to)).join(', ');
  const values = columns.map(column => `${column.cast} ${doubleQuote(column.to)}`).join(', ');
  const both = `SELECT 1 sqlpipe_side, ${values} FROM '${from}' UNION ALL SELECT -1, ${names} FROM '${to}'`;
  const rows = `SELECT ${names}, sum(sqlpipe_side) sqlpipe_more FROM (${both}) GROUP BY ${names}`;
  const problem = `'${from}' has rows that '${to}' does not have`;
  const help = `compare them, then send DROP TABLE '${from}';`;
  return {
    statement: `SELECT coalesce(sum(CASE WHEN sqlpipe_more > 0 THEN sqlpipe_more ELSE 0 END), 0) = 0 AS all_copied FROM (${rows});`,
    tables: [from, to],
    isFinal: true,
    purpose: `stops the plan if ${problem}`,
    explain: () => `${problem}; ${help}`,
    help,
    copy,
  };
}

const SIDE = ' FROM (SELECT 1 sqlpipe_side, ';
const CAST = /(?:CAST\((?:CAST\()?"([^"]+)"(?: AS STRING\))? AS [\w(),]+\)|"([^"]+)") "([^"]+)"(?:, |$)/g;

/**
 * Reads the tables and columns of an assertion that rows are copied. `parseAssertion` compares what it prints with the text. One pattern for
 * all of it would take quadratic time.
 */
function parseCopy(text: string): CopiedTable | undefined {
  const middle = text.lastIndexOf(' UNION ALL SELECT -1, ');
  const side = text.slice(text.indexOf(SIDE) + SIDE.length, middle);
  const [, values = '', from = ''] = /^(.+) FROM '([^']+)'$/.exec(side) ?? [];
  const [, to = ''] = / FROM '([^']+)$/.exec(text.slice(middle, text.lastIndexOf("') GROUP BY "))) ?? [];
  const columns = [...values.matchAll(CAST)].map(([all, cast, bare, name = '']) => ({
    from: cast ?? bare ?? '',
    to: name,
    cast: all.slice(0, all.lastIndexOf(` "${name}"`)),
  }));
  return columns.length > 0 ? { from, to, columns } : undefined;
}

/** Advice: the statement after which a table with Parquet partitions can be changed. */
export const adviseNative = (table: string, timestamp = '…'): string =>
  `use ALTER TABLE '${table}' CONVERT PARTITION TO NATIVE WHERE ${timestamp} IS NOT NULL`;

/** Describes values that do not fit into a type, and what to do. */
export const describeMisfits = (count: number): string =>
  `${count} ${count === 1 ? 'value does' : 'values do'} not fit, and the table would be suspended; UPDATE ${count === 1 ? 'it' : 'them'} first`;

/** The condition for values that do not fit into a decimal; undefined if all values fit, or if the type is no decimal. */
export function printMisfit(column: string, from: string, to: string): string | undefined {
  const { digits, scale } = decimalLimits(from, to) ?? {};
  const limit = digits === undefined ? undefined : `1${'0'.repeat(digits)}${from.startsWith('DECIMAL') ? 'm' : ''}`;
  const unit = scale === undefined ? undefined : scale === 0 ? '1m' : `0.${'0'.repeat(scale - 1)}1m`;
  return limit || unit ? printLimits(column, limit, unit) : undefined;
}

/**
 * The condition for values beyond a limit, or with digits after those of a unit. NULL is excluded, because its
 * remainder is not NULL.
 */
function printLimits(column: string, limit: string | undefined, unit: string | undefined): string {
  const name = doubleQuote(column);
  const beyond = limit === undefined ? [] : [`${name} >= ${limit}`, `${name} <= -${limit}`];
  return [...beyond, ...(unit === undefined ? [] : [`${name} % ${unit} <> 0m AND ${name} IS NOT NULL`])].join(' OR ');
}

/** The query for the number of rows of a table, or of those for which a condition is true. */
export const printCountQuestion = (table: string, condition?: string): string =>
  `SELECT count() FROM '${table}'${condition === undefined ? '' : ` WHERE ${condition}`}`;

/** The query for the number of partitions in a state. */
export const printPartitionQuestion = (table: string, state: PartitionState): string =>
  `SELECT count() FROM table_partitions('${table}') WHERE ${state}`;

/** The condition for a value that was written: a new column has NULL, 0 or false. 9.3.4 cannot compare arrays with NULL. */
export function printValueCondition({ name, type }: Pick<Column, 'name' | 'type'>): string {
  const column = doubleQuote(name);
  if (type.endsWith('[]')) return `${column} ::VARCHAR IS NOT NULL`;
  if (hasNull(type)) return `${column} IS NOT NULL`;
  return type === 'BOOLEAN' ? `${column} = true` : `${column} <> 0`;
}
