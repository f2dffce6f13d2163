/*!
 * Rows are read as text, because a column named ` is printed without quotes. No name has a line break, a comma or a parenthesis (9.3.4).
 */
import { serverTokens, significantTokens, type Token } from '@sqlpipe/sql';
import { trimQuery } from './parser/body.js';
import { isValidColumnName, needsQuotes, quoteName } from './parser/names.js';
import { PLAIN_TYPES, TYPE_PATTERN } from './parser/types.js';
import { RESERVED } from './parser/words.js';

/**
 * Repairs what a server printed, so that it can be replayed. What needs no repair or is unknown is returned unchanged.
 * @returns `notes` has the repairs that keep what the statement says, in words, except white space around the body of a view; `warnings`
 * has those after which the statement says something else, although it creates the same object
 */
export function repair(row: string): { statement: string; notes: string[]; warnings: string[] } {
  if (isCleanTable(row)) return { statement: row, notes: [], warnings: [] };
  const notes: string[] = [];
  const warnings: string[] = [];
  return { statement: repairView(repairTable(row, notes, warnings), notes), notes, warnings };
}

/** Matches the types of columns, with the options of symbols as QuestDB 9.0 to 9.2 print them. */
const TYPE_SOURCE =
  PLAIN_TYPES.join('|') +
  String.raw`|INTERVAL|GEOHASH\(\d+[bc]\)|DECIMAL\(\d+,\d+\)|DOUBLE(?:\[\])+` +
  String.raw`|SYMBOL(?: CAPACITY \d+)?(?: NOCACHE| CACHE)?(?: INDEX CAPACITY \d+)?`;
const POSTING_SOURCE = String.raw`SYMBOL(?: CAPACITY \d+)?(?: NOCACHE| CACHE)? INDEX TYPE [A-Z]+(?: [A-Z]+)?(?: INCLUDE \([^()]*\))?`;

/** Matches the name and the rest of a column. A name has at most 127 characters, and may contain blanks and words that look like types. */
const COLUMN_LINE = new RegExp(
  String.raw`^([^(]{1,127}?)( (?:${TYPE_SOURCE}|ARRAY|${POSTING_SOURCE})(?: PARQUET\(.*\))?)$`,
);

/** Matches a name that needs no quotes. It has no letter outside of ASCII whose lower case is ASCII, because that could make a keyword. */
const BARE_NAME_SOURCE = String.raw`[^\0- "%-/:-?[-^\x60|~\x7f\u0130\u212a\ufeff]+`;

/** Matches reserved words in any case. The flag `i` would be slower for names that are not ASCII. */
const RESERVED_SOURCE = [...RESERVED]
  .map(word => word.replace(/./g, letter => `[${letter}${letter.toUpperCase()}]`))
  .join('|');

const CLEAN_COLUMN_SOURCE = `(?!(?:${RESERVED_SOURCE}) )${BARE_NAME_SOURCE} (?:${TYPE_SOURCE})`;

/** Matches a column that needs no repair. This is faster than to repair it, and most tables have many of these. */
const CLEAN_COLUMN_LINE = new RegExp(`^${CLEAN_COLUMN_SOURCE}$`);

/** Matches a statement that can be replayed unchanged: names that need no quotes, known types, no volume, one `;`. */
const CLEAN_TABLE = new RegExp(
  String.raw`^CREATE TABLE '[^']+' \( \n(?:\t${CLEAN_COLUMN_SOURCE}(?:,\n|\n(?=\))))+\)` +
    String.raw`(?: timestamp\(${BARE_NAME_SOURCE}\) PARTITION BY \w+(?: TTL \d+ \w+)?(?: BYPASS WAL| WAL)?)?` +
    String.raw`(?:\nWITH maxUncommittedRows=\d+, o3MaxLag=\d+us)?` +
    String.raw`(?:\nDEDUP UPSERT KEYS\(${BARE_NAME_SOURCE}(?:,${BARE_NAME_SOURCE})*\))?;$`,
);

/** Whether a row is one CREATE TABLE that needs no repair. This check is fast, and nearly all rows pass it. */
export const isCleanTable = (row: string): boolean => CLEAN_TABLE.test(row);

/** Quotes the names that need quotes, and rewrites columns whose type cannot be written. */
function repairTable(row: string, notes: string[], warnings: string[]): string {
  const head = /^CREATE TABLE '[^']+' (?=\( \n\t)/.exec(row)?.[0];
  const columnsEnd = row.indexOf('\n)');
  if (!head || columnsEnd < 0) return row;
  const quoted = new Set<string>();
  const repairName = (bare: string): string => {
    // A server prints no invalid name. A text that was edited may have one: for example, two columns on one line.
    if (!needsQuotes(bare) || !isValidColumnName(bare)) return bare;
    quoted.add(bare);
    return quoteName(bare);
  };
  const repairList = (opening: string, comma: string, text: string): string => {
    const opened = text.indexOf(opening);
    const start = opened + opening.length;
    const end = text.indexOf(')', start);
    if (opened < 0 || end < 0) return text; // no such list
    const names = text.slice(start, end).split(comma).map(repairName);
    return text.slice(0, start) + names.join(comma) + text.slice(end);
  };
  const repairColumn = (line: string): PrintedColumn => {
    const blank = line.indexOf(' '); // if the type is unknown, the name ends here
    if (blank < 0) return [line, '']; // no column
    const [, bare = line.slice(0, blank), definition = line.slice(blank)] = COLUMN_LINE.exec(line) ?? [];
    return [repairName(bare), repairList(' INCLUDE (', ', ', definition)];
  };

  const columns = repairColumns(row.slice(`${head}( \n\t`.length, columnsEnd), repairColumn, warnings);
  const tail = repairList('\nDEDUP UPSERT KEYS(', ',', repairList('\n) timestamp(', ',', row.slice(columnsEnd)));
  const repaired = head + columns + repairVolume(tail, notes);
  if (quoted.size) notes.push(`added quotes to names that need them: ${Array.from(quoted, quoteName).join(', ')}`);
  return repaired;
}

const QUERY_COLUMN_SOURCE = String.raw`(?:CAST\(NULL AS ${TYPE_PATTERN}\)|ARRAY\[\]) AS (?:[^\s"'\`(),;/*-]+|"[^"\n]+")`;
const REPAIR_FORM = new RegExp(
  String.raw`^CREATE TABLE '[^']+' AS \(\nSELECT ${QUERY_COLUMN_SOURCE}(?:, ${QUERY_COLUMN_SOURCE})* FROM long_sequence\(0\)\n\)`,
);

/** Whether a table is created from a query that `repair` wrote. Such a query reads no table. */
export const isRepairForm = (statement: string): boolean => REPAIR_FORM.test(statement);

type PrintedColumn = readonly [name: string, definition: string];

const SEPARATOR = ',\n\t';

function repairColumns(list: string, repairColumn: (line: string) => PrintedColumn, warnings: string[]): string {
  const lines = list.split(SEPARATOR);
  if (list.includes(' ARRAY')) {
    const query = printAsQuery(lines.map(repairColumn), warnings);
    if (query !== undefined) return query;
  }
  return `( \n\t${lines.map(line => (CLEAN_COLUMN_LINE.test(line) ? line : repairColumn(line).join(''))).join(SEPARATOR)}`;
}

/** Prints columns as a query. Only a query, `SELECT ARRAY[]`, can create the type of an empty array. Undefined without such a column. */
function printAsQuery(columns: PrintedColumn[], warnings: string[]): string | undefined {
  const untyped = columns.flatMap(([name, definition]) => (definition === ' ARRAY' ? name : []));
  const hasOptions = columns.some(([, definition]) => !/^ \S+$/.test(definition));
  if (!untyped.length || hasOptions) return undefined;
  warnings.push(`rewritten as a query, because the type of ${untyped.join(', ')} cannot be written`);
  const select = columns.map(([name, definition]) =>
    definition === ' ARRAY' ? `ARRAY[] AS ${name}` : `CAST(NULL AS${definition}) AS ${name}`,
  );
  return `AS (\nSELECT ${select.join(', ')} FROM long_sequence(0)`;
}

/** Matches the statement up to the body. Names contain no quotes and no line breaks. */
const PRINTED_VIEW_HEAD =
  /^CREATE (?:VIEW '[^']+'|MATERIALIZED VIEW '[^']+' WITH BASE '[^']+' REFRESH [^\n]+|LIVE VIEW '[^'\n]+'[^\n]*) AS \( ?\n/;

/** Trims the body of a view as servers from version 10 on do. Older servers add a line with each replay. */
function repairView(row: string, notes: string[]): string {
  const head = PRINTED_VIEW_HEAD.exec(row)?.[0];
  const end = row.lastIndexOf('\n)'); // nothing after the body contains a line break and a parenthesis
  if (!head || end < 0) return row;
  const body = removeSemicolon(trimQuery(row.slice(head.length, end)), notes);
  // 9.3.4 rejects PARTITION BY YEAR with a TTL of partial years, but prints both if it chose YEAR.
  const [, months] = /^\n\) PARTITION BY YEAR TTL (\d+) ?M(?:ONTHS?)?\b/i.exec(row.slice(end)) ?? [];
  const isConflict = Number(months ?? 0) % 12 !== 0;
  if (isConflict) notes.push('removed PARTITION BY YEAR, which conflicts with its TTL in months');
  const clauses = row.slice(end + (isConflict ? '\n) PARTITION BY YEAR' : '\n)').length);
  return `${head}${body}${repairVolume(`\n)${clauses}`, notes)}`;
}

/** Removes the `;` that a view created without parentheses stores. Printed in parentheses, it would end the statement too early. */
function removeSemicolon(body: string, notes: string[]): string {
  // With a quote in a block comment, SQL and the server may read different tokens. Only the right tokens end with the `;`.
  const isLastIn = (tokens: Iterable<Token>) => [...tokens].at(-1)?.start === body.length - 1;
  if (!body.endsWith(';') || !(isLastIn(significantTokens(body)) || isLastIn(serverTokens(body)))) return body;
  notes.push('removed the semicolon at the end of its body');
  return trimQuery(body.slice(0, -1));
}

const MISPRINTED_VOLUME = ', IN VOLUME ';

/** Repairs IN VOLUME among the clauses after the body: removes the comma that the server prints before IN, and quotes the volume. */
function repairVolume(tail: string, notes: string[]): string {
  const start = tail.indexOf(MISPRINTED_VOLUME);
  if (start < 0) return tail;
  const rest = tail.slice(start + MISPRINTED_VOLUME.length);
  const [volume = ''] = rest.split(/\n| OWNED BY |;$/, 1);
  if (volume === '' || volume === rest) return tail;
  notes.push('removed the comma before IN VOLUME');
  return `${tail.slice(0, start)} IN VOLUME ${quoteName(volume)}${rest.slice(volume.length)}`;
}
