/*! Names of objects and columns: which of them must be quoted, and which are the server's own. */
import { foldCase } from '@sqlpipe/sql';

/** The words that the service rejects as a bare name (SqlKeywords; each observed on 9.3.4). */
export const RESERVED: ReadonlySet<string> = new Set(
  (
    'add align all alter and as asc attach batch between bypass cancel case cast column create desc detach disable distinct drop ' +
    'enable end except exists explain false from in insert intersect into join like limit lock nan not null on or order outer over ' +
    'partition rename resume sample select set squash table to true union update upsert values where with within'
  ).split(' '),
);

/** What ends a bare name or opens a quote; what else a name may hold does not (tried on 9.3.4 character by character). */
const ENDS_NAME = /[ ;`&|^<=>[\]]/;

/** Whether a name has to be in quotes. One that the service has put in quotes has not. */
export const needsQuotes = (name: string): boolean =>
  !name.startsWith('"') && (ENDS_NAME.test(name) || RESERVED.has(foldCase(name)));

/** The name as it can stand in a statement. No name holds a double quote. */
export const quoteName = (name: string): string => (needsQuotes(name) ? `"${name}"` : name);

const SYSTEM_TABLES = new Set(['telemetry', 'telemetry_config', '_query_trace']);

/** Whether a table is the server's own, with its default configuration: no dump holds it (TableFlagResolverImpl; query tracing). */
export const isSystemTable = (name: string): boolean =>
  name.startsWith('sys.') || SYSTEM_TABLES.has(name.toLowerCase());
