/*! The assertions of a rebuild: that all rows are applied, that the copy has as many rows, and that it has all of them. */
import { type Column, printTypeCast } from '@sqlpipe/ddl';
import type { Copy } from '@sqlpipe/engine';
import { quoteColumn, withoutComments } from './statement-text.js';

/** The assertion that all rows that were sent to a table are applied. A table without WAL has no others. */
export const printAppliedAssertion = (table: string): string =>
  `SELECT coalesce(max(CASE WHEN writerTxn = sequencerTxn AND NOT suspended THEN 0 ELSE 1 END), 0) = 0 AS all_applied FROM wal_tables() WHERE name = '${table}';`;

/** The assertion that two tables have as many rows. */
export const printRowCountAssertion = (one: string, other: string): string =>
  `SELECT a.n = b.n AS as_many_rows FROM (SELECT count() n FROM '${one}') a CROSS JOIN (SELECT count() n FROM '${other}') b;`;

/** The value of a column, as a table stores it that has the column with this name and type. */
export const printCast = (from: Column, to: Column): string =>
  from.type === to.type ? quoteColumn(from.name) : printTypeCast(quoteColumn(from.name), from.type, to.type);

/** A table whose rows are in another one. */
export interface CopiedTable {
  readonly from: string;
  readonly to: string;
  /** The columns in both tables; `cast` gives a value as the other table has it. */
  readonly columns: readonly { readonly from: string; readonly to: string; readonly cast: string }[];
}

/** The assertion that a table has each row of another one, at least as often. Only `sum` counts groups of a UNION ALL rightly on 9.3.4. */
export function printCopyAssertion({ from, to, columns }: CopiedTable): string {
  const names = columns.map(column => quoteColumn(column.to)).join(', ');
  const values = columns.map(column => `${column.cast} ${quoteColumn(column.to)}`).join(', ');
  const both = `SELECT 1 sqlpipe_side, ${values} FROM '${from}' UNION ALL SELECT -1, ${names} FROM '${to}'`;
  const rows = `SELECT ${names}, sum(sqlpipe_side) sqlpipe_more FROM (${both}) GROUP BY ${names}`;
  return `SELECT coalesce(sum(CASE WHEN sqlpipe_more > 0 THEN sqlpipe_more ELSE 0 END), 0) = 0 AS all_copied FROM (${rows});`;
}

const COPIED = / FROM \(SELECT 1 sqlpipe_side, (.+) FROM '([^']+)' UNION ALL SELECT -1, .+ FROM '([^']+)'\) GROUP BY /;
const CAST = /(?:CAST\((?:CAST\()?"([^"]+)"(?: AS STRING\))? AS [\w(),]+\)|"([^"]+)") "([^"]+)"(?:, |$)/g;

function parseCopyAssertion(text: string): CopiedTable | undefined {
  const [, values = '', from = '', to = ''] = COPIED.exec(text) ?? [];
  const columns = [...values.matchAll(CAST)].map(([all, cast, bare, name = '']) => ({
    from: cast ?? bare ?? '',
    to: name,
    cast: all.slice(0, all.lastIndexOf(` "${name}"`)),
  }));
  const copied = { from, to, columns };
  return columns.length > 0 && printCopyAssertion(copied) === text ? copied : undefined;
}

/** What an assertion of a rebuild is about, if a statement is one, after its comments. */
export type RebuildAssertion =
  | { readonly assertion: 'all applied'; readonly tables: readonly [string] }
  | { readonly assertion: 'as many rows'; readonly tables: readonly [string, string] }
  | { readonly assertion: 'all copied'; readonly tables: readonly [string, string]; readonly copied: CopiedTable };

/** The table that an assertion finds in another one; without columns if it only counts the rows. */
export function assertedCopy(statement: string): Copy | undefined {
  const found = parseRebuildAssertion(statement);
  if (found?.assertion === 'all copied') return found.copied;
  if (found?.assertion !== 'as many rows') return undefined;
  const [from, to] = found.tables;
  return { from, to, columns: [] };
}

/** Reads an assertion of a rebuild; undefined for any other statement. */
export function parseRebuildAssertion(statement: string): RebuildAssertion | undefined {
  const text = withoutComments(statement);
  const [, table] = / AS all_applied FROM wal_tables\(\) WHERE name = '([^']+)';$/.exec(text) ?? [];
  if (table !== undefined && text === printAppliedAssertion(table))
    return { assertion: 'all applied', tables: [table] };
  const copied = parseCopyAssertion(text);
  if (copied) return { assertion: 'all copied', tables: [copied.from, copied.to], copied };
  const [, one, other] = /FROM '([^']+)'\) a CROSS JOIN \(SELECT count\(\) n FROM '([^']+)'\) b;$/.exec(text) ?? [];
  if (one === undefined || other === undefined || text !== printRowCountAssertion(one, other)) return undefined;
  return { assertion: 'as many rows', tables: [one, other] };
}
