/*! The assertions of a rebuild: that all rows are applied, and that the copy has as many rows. */
import { withoutComments } from './statement-text.js';

/** The assertion that all rows that were sent to a table are applied. A table without WAL has no others. */
export const printAppliedAssertion = (table: string): string =>
  `SELECT coalesce(max(CASE WHEN writerTxn = sequencerTxn AND NOT suspended THEN 0 ELSE 1 END), 0) = 0 AS all_applied FROM wal_tables() WHERE name = '${table}';`;

/** The assertion that two tables have as many rows. */
export const printRowCountAssertion = (one: string, other: string): string =>
  `SELECT a.n = b.n AS as_many_rows FROM (SELECT count() n FROM '${one}') a CROSS JOIN (SELECT count() n FROM '${other}') b;`;

/** What an assertion of a rebuild is about, if a statement is one, after its comments. */
export type RebuildAssertion =
  | { readonly assertion: 'all applied'; readonly tables: readonly [string] }
  | { readonly assertion: 'as many rows'; readonly tables: readonly [string, string] };

/** Reads an assertion of a rebuild; undefined for any other statement. */
export function parseRebuildAssertion(statement: string): RebuildAssertion | undefined {
  const text = withoutComments(statement);
  const [, table] = / AS all_applied FROM wal_tables\(\) WHERE name = '([^']+)';$/.exec(text) ?? [];
  if (table !== undefined && text === printAppliedAssertion(table))
    return { assertion: 'all applied', tables: [table] };
  const [, one, other] = /FROM '([^']+)'\) a CROSS JOIN \(SELECT count\(\) n FROM '([^']+)'\) b;$/.exec(text) ?? [];
  if (one === undefined || other === undefined || text !== printRowCountAssertion(one, other)) return undefined;
  return { assertion: 'as many rows', tables: [one, other] };
}
