import { decimalLimits, doubleQuote, losesLoneSurrogates, printConverted, TYPE_PATTERN } from '@sqlpipe/ddl';
import type { Conversion } from '@sqlpipe/engine';
import { quoteLiteral } from '@sqlpipe/sql';

/** Prints a value before and after the conversion, and converted back. As texts, because for a server, 1 and 1 + 1e-11 are equal. */
function printValues({ column, from, to }: Conversion): string[] {
  const name = doubleQuote(column);
  const converted = printConverted(name, from, to);
  return [name, converted, printConverted(converted, to, from)].map(value => `CAST(${value} AS STRING)`);
}

/** The query counts the values that converting back would not restore, the values that become NULL, and all values. */
export function printChangeCountsQuestion(conversion: Conversion): string {
  const [before, after, back] = printValues(conversion);
  const count = (condition: string): string => `coalesce(sum(CASE WHEN ${condition} THEN 1 ELSE 0 END), 0)`;
  const becomesNull = `${before} IS NOT NULL AND ${after} IS NULL`;
  return `SELECT ${count(`${before} <> ${back}`)}, ${count(becomesNull)}, count() FROM ${quoteLiteral(conversion.table)}`;
}

/** The answer to `printChangeCountsQuestion`. */
export type ChangedValues = Readonly<Record<'changed' | 'nulls' | 'total', number>>;

/** Formats how many values a conversion changes, as the end of a sentence. @param values undefined if no server has answered */
export function formatChangedValues(values: ChangedValues | undefined): string {
  if (!values) return '; how many values change is unknown';
  const { changed, nulls, total } = values;
  return `; ${changed} of ${total} values change${nulls > 0 ? `, ${nulls} of them to NULL` : ''}`;
}

/** The query counts the values that change or do not fit. For `CONVERSION_ASSERTION`, the table has an alias such as "INT to BYTE". */
export function printChangedOrMisfitQuestion(conversion: Conversion): string {
  const [before, , back] = printValues(conversion);
  const { table, from, to } = conversion;
  return `SELECT count() FROM ${quoteLiteral(table)} "${from} to ${to}" WHERE ${printMisfit(conversion) ?? `${before} <> ${back}`}`;
}

export const CONVERSION_ASSERTION = new RegExp(
  String.raw`^SELECT count\(\) = 0 AS \w+ FROM '([^']+)' "(${TYPE_PATTERN}) to (${TYPE_PATTERN})" WHERE (?:CAST\()?"([^"]+)" `,
);

/**
 * Prints the condition for values that do not fit into the new type; undefined if there are none.
 * - A decimal: values beyond its limits or with more decimal places. NULL is excluded, because the remainder of NULL is not NULL.
 * - VARCHAR: texts with half of a surrogate pair, see `losesLoneSurrogates`.
 */
export function printMisfit(conversion: Conversion): string | undefined {
  const { column, from, to } = conversion;
  const [before, after] = printValues(conversion);
  if (losesLoneSurrogates(from, to)) return `${before} <> ${after}`;
  const { digits, scale } = decimalLimits(from, to) ?? {};
  const name = doubleQuote(column);
  const limit = `1${'0'.repeat(digits ?? 0)}${from.startsWith('DECIMAL') ? 'm' : ''}`;
  const unit = scale ? `0.${'0'.repeat(scale - 1)}1m` : '1m';
  const conditions = [
    ...(digits === undefined ? [] : [`${name} >= ${limit}`, `${name} <= -${limit}`]),
    ...(scale === undefined ? [] : [`${name} % ${unit} <> 0m AND ${name} IS NOT NULL`]),
  ];
  return conditions.length > 0 ? conditions.join(' OR ') : undefined;
}
