/*! Names of objects and columns: which names must be quoted, and which belong to the server. */
import { foldCase } from '@sqlpipe/sql';

/** The words that the server rejects as a bare name (SqlKeywords; each observed on 9.3.4). */
export const RESERVED: ReadonlySet<string> = new Set(
  (
    'add align all alter and as asc attach batch between bypass cancel case cast column create desc detach disable distinct drop ' +
    'enable end except exists explain false from in insert intersect into join like limit lock nan not null on or order outer over ' +
    'partition rename resume sample select set squash table to true union update upsert values where with within'
  ).split(' '),
);

/** The characters of valid names that end a bare name or open a quote (each character was tried on 9.3.4). */
const ENDS_NAME = /[ ;`&|^<=>[\]]/;

/** Whether a name has to be quoted. A name that the server printed with quotes does not have to be. */
export const needsQuotes = (name: string): boolean =>
  !name.startsWith('"') && (ENDS_NAME.test(name) || RESERVED.has(foldCase(name)));

/** The name as it is written in a statement, quoted if necessary. No name contains a double quote. */
export const quoteName = (name: string): string => (needsQuotes(name) ? `"${name}"` : name);

/** The words that start a clause where ALTER may have the name of a column. */
const COLUMN_CLAUSES = new Set(['column', 'if']);

export const quoteColumn = (name: string): string =>
  COLUMN_CLAUSES.has(foldCase(name)) ? `"${name}"` : quoteName(name);

const SYSTEM_TABLES = new Set(['telemetry', 'telemetry_config', '_query_trace']);

/**
 * Whether a table is one of the server's own, as named by its default configuration. No dump contains it
 * (TableFlagResolverImpl; query tracing).
 */
export const isSystemTable = (name: string): boolean =>
  name.startsWith('sys.') || SYSTEM_TABLES.has(name.toLowerCase());
