/*! Prints questions about the values that ALTER COLUMN … TYPE changes. */
import { decimalLimits, printConverted } from '@sqlpipe/ddl';
import { doubleQuote } from './statement-text.js';

/** A column that gets another type. */
export interface Conversion {
  readonly table: string;
  readonly column: string;
  readonly from: string;
  readonly to: string;
}

const asText = (value: string): string => `CAST(${value} AS STRING)`;

/** Prints a value before and after a conversion, and converted back. As texts, because numbers closer than 1e-10 are equal to the server. */
function printValues({ column, from, to }: Conversion): string[] {
  const converted = printConverted(`"${column}"`, from, to);
  return [`"${column}"`, converted, printConverted(converted, to, from)].map(asText);
}

/** Prints the query for three numbers: of values that converting back would not restore, of values that become NULL, and of all values. */
export function printConversionQuestion(conversion: Conversion): string {
  const [before, after, back] = printValues(conversion);
  const count = (condition: string): string => `coalesce(sum(CASE WHEN ${condition} THEN 1 ELSE 0 END), 0)`;
  const isNull = `${before} IS NOT NULL AND ${after} IS NULL`;
  return `SELECT ${count(`${before} <> ${back}`)}, ${count(isNull)}, count() FROM '${conversion.table}'`;
}

/** Prints the query for the first of these numbers. An alias of the table names the types, so that the text can be read. */
export function printChangedQuestion(conversion: Conversion): string {
  const [before, , back] = printValues(conversion);
  const { table, from, to } = conversion;
  return `SELECT count() FROM '${table}' "${from} to ${to}" WHERE ${before} <> ${back}`;
}

const TYPE = String.raw`([A-Za-z]\w*(?:\(\w+(?:,\w+)?\))?)`;

/** Matches the start of an assertion that no value changes: the table, both types, and the column. */
export const NONE_CHANGED = new RegExp(
  String.raw`^SELECT count\(\) = 0 AS none_changed FROM '([^']+)' "${TYPE} to ${TYPE}" WHERE CAST\("([^"]+)" AS STRING\) `,
);

/** Prints the condition for values that do not fit into a decimal; undefined if all values fit, or if the type is no decimal. */
export function printMisfit(column: string, from: string, to: string): string | undefined {
  const { digits, scale } = decimalLimits(from, to) ?? {};
  const limit = digits === undefined ? undefined : `1${'0'.repeat(digits)}${from.startsWith('DECIMAL') ? 'm' : ''}`;
  const unit = scale === undefined ? undefined : scale === 0 ? '1m' : `0.${'0'.repeat(scale - 1)}1m`;
  return limit || unit ? printLimits(column, limit, unit) : undefined;
}

/** Prints the condition for values beyond a limit, or with more decimal places than a unit. The remainder of NULL is not NULL. */
export function printLimits(column: string, limit: string | undefined, unit: string | undefined): string {
  const name = doubleQuote(column);
  const beyond = limit === undefined ? [] : [`${name} >= ${limit}`, `${name} <= -${limit}`];
  return [...beyond, ...(unit === undefined ? [] : [`${name} % ${unit} <> 0m AND ${name} IS NOT NULL`])].join(' OR ');
}
