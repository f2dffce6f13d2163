/*!
 * The assertions of a plan: SELECTs that must return true before the next statement is sent. An assertion is recognized by its text,
 * because a plan is a stream that anybody may have edited. The alias of its only column names its form. Only this file
 * knows all forms; those about history, expiry and queries are printed by files of their own.
 */
import { type Column, decimalLimits, hasNull, type MaterializedViewDefinition, printTypeCast } from '@sqlpipe/ddl';
import type { Copy } from '@sqlpipe/engine';
import { printComputableAssertion } from './common-queries.js';
import { parseExpired, printExpiredQuestion, type Retained } from './expiry.js';
import { LOST_ROWS, printHistoryAssertion, type ViewColumn } from './history.js';
import { quoteColumn, withoutComments } from './statement-text.js';

/** The values of the first column that each question returns. */
type Answers = readonly (readonly unknown[])[];

/** What is known of the view that an assertion is about. Its queries have the same WITH as the assertion. */
export interface KnownView {
  /** The queries that the view may have. */
  readonly bodies: readonly string[];
  /** The view, if the target has it as a materialized view. */
  readonly existing?: Pick<MaterializedViewDefinition, 'name' | 'body' | 'base'> | undefined;
  /** The columns of the existing view, as the target lists them. */
  readonly columns?: readonly ViewColumn[] | undefined;
}

/** What the text of an assertion means. */
export interface Assertion {
  /** The table or materialized view that it is about, and the table that holds a copy of its rows. */
  readonly tables: readonly [string, ...string[]];
  /** Whether an untrue answer is final. Otherwise background work of the server may still make it true. */
  readonly isFinal?: boolean;
  /** The materialized view that may lag behind its base while rows are written: the server's next refresh may make it true. */
  readonly laggingView?: string;
  /** Whether nothing may write to its table while the plan is applied. */
  readonly needsIdleTable?: boolean;
  /** Whether it comes after the statements that copy the rows of `tables[0]`. */
  readonly followsCopy?: boolean;
  /** What it does, for the comment in the plan. */
  readonly purpose: string;
  /** The queries whose answers explain why it is untrue. */
  readonly questions?: readonly string[];
  /** Explains why it is untrue, and what to do. @param answers the answers to the questions */
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
  return Object.hasOwn(FORMS, form) ? FORMS[form]?.(text) : undefined;
}

/** The number in an answer. */
const countOf = (answers: Answers, at = 0): number => Number(answers[at]?.[0]);

/** Parses the text of each form; undefined for a text that no plan contains. */
const FORMS: Readonly<Record<string, (text: string) => Assertion | undefined>> = {
  nothing_is_lost(text) {
    const [, view] = / AS nothing_is_lost FROM \([^']* FROM '([^']+)' (?:EXCEPT|UNION ALL) /.exec(text) ?? [];
    if (view === undefined) return undefined;
    const problem = `materialized view '${view}' holds rows that its query no longer gives`;
    return {
      tables: [view],
      laggingView: view,
      purpose: `stops the plan if ${problem}`,
      explain: () => `${problem}; make the plan again, which lists them`,
      printFor: ({ existing, columns }) =>
        existing ? [undefined, columns].map(known => printHistoryAssertion(existing, known)) : [],
    };
  },
  none_expire(text) {
    const { retained, body } = parseExpired(text) ?? {};
    if (!retained || text !== printExpiredAssertion(retained, body)) return undefined;
    const { name } = retained;
    return {
      tables: [name],
      isFinal: true,
      purpose: `stops the plan if '${name}' has rows that its TTL has expired, which the server would drop`,
      questions: [printExpiredQuestion(retained, body)],
      explain: answers =>
        `'${name}' has ${describeExpired(countOf(answers))}, which the server would drop; make the plan again, which lists them`,
      ...(body !== undefined && {
        printFor: ({ existing }) => (existing ? [printExpiredAssertion(retained, existing.body)] : []),
      }),
    };
  },
  is_computable(text) {
    const [, view] = /^SELECT sqlpipe_rows >= 0 AS is_computable .*\n\) "([^"]+)" LIMIT 1\);$/s.exec(text) ?? [];
    if (view === undefined) return undefined;
    return {
      tables: [view],
      isFinal: true,
      purpose: `stops the plan if the server rejects the query of materialized view '${view}' over what it will read`,
      explain: () => 'its query cannot be computed',
      printFor: ({ bodies }) => bodies.map(body => printComputableAssertion(view, body)),
    };
  },
  is_empty(text) {
    const [, table, condition, name] = EMPTY.exec(text) ?? [];
    if (table === undefined) return undefined;
    const [holder, what] = name === undefined ? [`'${table}'`, 'row'] : [`column '${name}' of '${table}'`, 'value'];
    return {
      tables: [table],
      isFinal: true,
      purpose: `stops the plan if ${holder} has ${what}s`,
      questions: [printCountQuestion(table, condition)],
      explain: answers =>
        `${holder} has ${countOf(answers)} ${what}${countOf(answers) === 1 ? '' : 's'}, which would be lost`,
    };
  },
  all_fit(text) {
    const [, table, misfit] = /^SELECT count\(\) = 0 AS all_fit FROM '([^']+)' WHERE (.+);$/.exec(text) ?? [];
    if (table === undefined || misfit === undefined || !isMisfit(misfit)) return undefined;
    return {
      tables: [table],
      isFinal: true,
      purpose: `stops the plan if '${table}' has values that do not fit into the new type, which would suspend it`,
      questions: [printCountQuestion(table, misfit)],
      explain: answers => `'${table}': ${describeMisfits(countOf(answers))}`,
    };
  },
  all_native: formOfPartitions(
    'isParquet',
    table => `stops the plan if '${table}' has Parquet partitions, ${PARQUET_PROBLEM}`,
    (table, count) => `'${table}' has Parquet partitions (${count}); ${adviseNative(table)}`,
  ),
  all_attached: formOfPartitions(
    'detached',
    table => `stops the plan if '${table}' has detached partitions, ${DETACHED_PROBLEM}`,
    (table, count) => `'${table}' has detached partitions (${count}), ${DETACHED_PROBLEM}; attach them`,
  ),
  all_applied(text) {
    const [, table] = / FROM wal_tables\(\) WHERE name = '([^']+)';$/.exec(text) ?? [];
    if (table === undefined || text !== printAppliedAssertion(table)) return undefined;
    return {
      tables: [table],
      needsIdleTable: true,
      purpose: `stops the plan unless all rows that were sent to '${table}' are applied`,
      explain: () => `rows that were sent to '${table}' are not applied yet; wait, or RESUME WAL if it is suspended`,
    };
  },
  as_many_rows(text) {
    const [, from, to] = /FROM '([^']+)'\) a CROSS JOIN \(SELECT count\(\) n FROM '([^']+)'\) b;$/.exec(text) ?? [];
    if (from === undefined || to === undefined || text !== printRowCountAssertion(from, to)) return undefined;
    return {
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
        const expired = `its TTL expires some while they are copied; first apply a plan for '${from}' without a TTL, then one that sets it`;
        const lost = [...(keys.length > 0 ? [overwritten] : []), ...(countOf(answers, 3) > 0 ? [expired] : [])];
        const [reason = `nothing may write to '${from}' while its rows are copied`] = copied < old ? lost : [];
        return `'${from}' has ${old} rows, '${to}' has ${copied}; ${reason}`;
      },
      copy: { from, to, columns: [] },
    };
  },
  all_copied(text) {
    const copy = parseCopy(text);
    if (!copy) return undefined;
    const problem = `'${copy.from}' has rows that '${copy.to}' does not have`;
    const help = `compare them, then send DROP TABLE '${copy.from}';`;
    return {
      tables: [copy.from, copy.to],
      isFinal: true,
      purpose: `stops the plan if ${problem}`,
      explain: () => `${problem}; ${help}`,
      help,
      copy,
    };
  },
};

/** What a server without rows answers to a question of a plan: the type and the value of its only column. */
export interface RowlessAnswer {
  readonly type: string;
  readonly value: true | 0 | null;
}

/** The answers of a server without rows, by the alias of the column: to assertions, and to questions of the planner. */
export const ROWLESS_ANSWERS: ReadonlyMap<string, RowlessAnswer> = new Map([
  ...Object.keys(FORMS).map((form): [string, RowlessAnswer] => [form, { type: 'BOOLEAN', value: true }]),
  ...LOST_ROWS,
]);

/** Makes the form of an assertion that no partition of a table is Parquet, or that none is detached. */
function formOfPartitions(
  state: PartitionState,
  purposeOf: (table: string) => string,
  explain: (table: string, count: number) => string,
): (typeof FORMS)[string] {
  const pattern = new RegExp(` FROM table_partitions\\('([^']+)'\\) WHERE ${state};$`);
  return text => {
    const [, table] = pattern.exec(text) ?? [];
    if (table === undefined || text !== printPartitionAssertion(table, state)) return undefined;
    return {
      tables: [table],
      isFinal: true,
      purpose: purposeOf(table),
      questions: [printPartitionQuestion(table, state)],
      explain: answers => explain(table, countOf(answers)),
    };
  };
}

/** The assertion that an object has no rows that its TTL has expired. @param body the query of a view */
export const printExpiredAssertion = (retained: Retained, body?: string): string =>
  assertNone(printExpiredQuestion(retained, body), 'none_expire');

/** Describes a number of expired rows. */
export const describeExpired = (count: number): string =>
  `${count} ${count === 1 ? 'row' : 'rows'} that its TTL has expired`;

/** The assertion that all rows that were sent to a table are applied. For a table without WAL, it is always true. */
export const printAppliedAssertion = (table: string): string =>
  `SELECT coalesce(max(CASE WHEN writerTxn = sequencerTxn AND NOT suspended THEN 0 ELSE 1 END), 0) = 0 AS all_applied FROM wal_tables() WHERE name = '${table}';`;

/** The assertion that two tables have the same number of rows. */
export const printRowCountAssertion = (one: string, other: string): string =>
  `SELECT a.n = b.n AS as_many_rows FROM (SELECT count() n FROM '${one}') a CROSS JOIN (SELECT count() n FROM '${other}') b;`;

/** SQL that converts a value of column `from` to the type of `to`. */
export const printCast = (from: Column, to: Column): string =>
  from.type === to.type ? quoteColumn(from.name) : printTypeCast(quoteColumn(from.name), from.type, to.type);

/** A table whose rows are also in another table. */
export interface CopiedTable extends Copy {
  /** The columns in both tables. `cast` is SQL for the value in the other table. */
  readonly columns: readonly { readonly from: string; readonly to: string; readonly cast: string }[];
}

/** The assertion that `to` has each row of `from` at least as often. It uses `sum`, because 9.3.4 miscounts groups of a UNION ALL. */
export function printCopyAssertion({ from, to, columns }: CopiedTable): string {
  const names = columns.map(column => quoteColumn(column.to)).join(', ');
  const values = columns.map(column => `${column.cast} ${quoteColumn(column.to)}`).join(', ');
  const both = `SELECT 1 sqlpipe_side, ${values} FROM '${from}' UNION ALL SELECT -1, ${names} FROM '${to}'`;
  const rows = `SELECT ${names}, sum(sqlpipe_side) sqlpipe_more FROM (${both}) GROUP BY ${names}`;
  return `SELECT coalesce(sum(CASE WHEN sqlpipe_more > 0 THEN sqlpipe_more ELSE 0 END), 0) = 0 AS all_copied FROM (${rows});`;
}

const SIDE = ' FROM (SELECT 1 sqlpipe_side, ';
const CAST = /(?:CAST\((?:CAST\()?"([^"]+)"(?: AS STRING\))? AS [\w(),]+\)|"([^"]+)") "([^"]+)"(?:, |$)/g;

/** Parses the assertion that rows are copied; undefined for any other text. One pattern for all of it would take quadratic time. */
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
  const copied = { from, to, columns };
  return columns.length > 0 && printCopyAssertion(copied) === text ? copied : undefined;
}

const PARQUET_PROBLEM = 'which ADD COLUMN and DROP COLUMN make unreadable, and over which TYPE suspends it';

const DETACHED_PROBLEM = 'which DROP TABLE deletes, and which cannot be attached after a change of a type';

/** Advice: the statement after which a table with Parquet partitions can be changed. */
export const adviseNative = (table: string, timestamp = '…'): string =>
  `use ALTER TABLE '${table}' CONVERT PARTITION TO NATIVE WHERE ${timestamp} IS NOT NULL`;

/** Describes values that do not fit into a type, and what to do. */
export const describeMisfits = (count: number): string =>
  `${count} ${count === 1 ? 'value does' : 'values do'} not fit, and the table would be suspended; UPDATE ${count === 1 ? 'it' : 'them'} first`;

/**
 * The condition for values that do not fit into a decimal; undefined if all values fit, or if the type is no decimal. It excludes NULL,
 * whose remainder is not NULL.
 */
export function printMisfit(column: string, from: string, to: string): string | undefined {
  const { digits, scale } = decimalLimits(from, to) ?? {};
  const [name, suffix] = [quoteColumn(column), from.startsWith('DECIMAL') ? 'm' : ''];
  const limit = digits === undefined ? '' : `1${'0'.repeat(digits)}${suffix}`;
  const unit = scale === undefined ? '' : scale === 0 ? '1m' : `0.${'0'.repeat(scale - 1)}1m`;
  const conditions = [
    ...(limit ? [`${name} >= ${limit}`, `${name} <= -${limit}`] : []),
    ...(unit ? [`${name} % ${unit} <> 0m AND ${name} IS NOT NULL`] : []),
  ];
  return conditions.length === 0 ? undefined : conditions.join(' OR ');
}

const MISFIT = /^"([^"]+)" (?:>= 10*m?|<= -10*m?|% (?:1m|0\.0*1m) <> 0m AND "\1" IS NOT NULL)(?: OR (?=")|$)/;

/** Whether a text is a condition that `printMisfit` prints. */
function isMisfit(condition: string): boolean {
  for (let rest = condition; ; ) {
    const [first] = MISFIT.exec(rest) ?? [];
    if (first === undefined) return false;
    rest = rest.slice(first.length);
    if (rest === '') return true;
  }
}

/** The query for the number of rows of a table, or of those for which a condition is true. */
export const printCountQuestion = (table: string, condition?: string): string =>
  `SELECT count() FROM '${table}'${condition === undefined ? '' : ` WHERE ${condition}`}`;

/** The forms of the assertions that no partition is in a state, by the column of `table_partitions` for the state. */
const PARTITION_FORMS = { isParquet: 'all_native', detached: 'all_attached' } as const;

export type PartitionState = keyof typeof PARTITION_FORMS;

/** The query for the number of partitions in a state. */
export const printPartitionQuestion = (table: string, state: PartitionState): string =>
  `SELECT count() FROM table_partitions('${table}') WHERE ${state}`;

/** The assertion that no partition is in a state. Queries do not see detached partitions, but DROP TABLE deletes them. */
export const printPartitionAssertion = (table: string, state: PartitionState): string =>
  assertNone(printPartitionQuestion(table, state), PARTITION_FORMS[state]);

/** The assertion that a query counts 0. */
const assertNone = (question: string, form: string): string =>
  `${question.replace('count()', `count() = 0 AS ${form}`)};`;

/** The assertions before a conversion of a column. At a value that does not fit, the server would stop halfway. */
export function printFitAssertions(table: string, { name, type }: Column, to: string): string[] {
  const misfit = printMisfit(name, type, to);
  return misfit === undefined ? [] : [assertNone(printCountQuestion(table, misfit), 'all_fit')];
}

/** A table, or a column of it. */
export interface Emptied {
  readonly table: string;
  readonly column?: Pick<Column, 'name' | 'type'>;
}

/** The condition for a value that was written: a new column has NULL, 0 or false. 9.3.4 cannot compare arrays with NULL. */
function printValueCondition({ name, type }: Pick<Column, 'name' | 'type'>): string {
  const column = quoteColumn(name);
  if (type.endsWith('[]')) return `${column} ::VARCHAR IS NOT NULL`;
  if (hasNull(type)) return `${column} IS NOT NULL`;
  return type === 'BOOLEAN' ? `${column} = true` : `${column} <> 0`;
}

const EMPTY =
  /^SELECT count\(\) = 0 AS is_empty FROM '([^']+)'(?: WHERE ("([^"]+)" (?:(?:::VARCHAR )?IS NOT NULL|<> 0|= true)))?;$/;

/** The assertion that a table has no rows, or a column no values. */
export const printEmptyAssertion = ({ table, column }: Emptied): string =>
  assertNone(printCountQuestion(table, column && printValueCondition(column)), 'is_empty');
