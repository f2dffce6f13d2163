/*! CREATE TABLE as the service prints it (from 9.3 on, and 9.0 to 9.2): column names stand bare, wherever it has them. */

import { isValidColumnName } from './grammar/names.js';
import { needsQuotes, quoteName, RESERVED } from './names.js';
import { repairVolume } from './repair-volume.js';

/** Types by the words that a statement can give them, with what QuestDB 9.0 to 9.2 say of symbols. */
const TYPE =
  'BOOLEAN|BYTE|SHORT|CHAR|INT|LONG|LONG128|LONG256|FLOAT|DOUBLE|DATE|TIMESTAMP|TIMESTAMP_NS|INTERVAL|STRING|VARCHAR' +
  String.raw`|BINARY|UUID|IPv4|GEOHASH\(\d+[bc]\)|DECIMAL\(\d+,\d+\)|DOUBLE(?:\[\])+` +
  String.raw`|SYMBOL(?: CAPACITY \d+)?(?: NOCACHE| CACHE)?(?: INDEX CAPACITY \d+)?`;
const POSTING = String.raw`SYMBOL(?: CAPACITY \d+)?(?: NOCACHE| CACHE)? INDEX TYPE [A-Z]+(?: [A-Z]+)?(?: INCLUDE \([^()]*\))?`;

/** A name, which may hold blanks and words that look like types, and all that says what kind of column it is. No name is longer. */
const COLUMN = new RegExp(String.raw`^([^(]{1,127}?) ((?:${TYPE}|ARRAY|${POSTING})(?: PARQUET\(.*\))?)$`);

/**
 * The characters that no column's name may hold, and those that end a bare one: blanks, quotes and most
 * punctuation of ASCII. And two letters that are ASCII in lower case, and may so make a keyword.
 */
const BARE_NAME = String.raw`[^\0- "%-/:-?[-^\x60|~\x7f\u0130\u212a\ufeff]+`;

/** In any case, spelled out: a pattern that does not look at case is slower for names beyond ASCII. */
const RESERVED_WORD = [...RESERVED]
  .map(word => word.replace(/./g, letter => `[${letter}${letter.toUpperCase()}]`))
  .join('|');

/** What replays as it is: names that may stand bare, types that we know, no volume, one `;`. */
const CLEAN_TABLE = new RegExp(
  String.raw`^CREATE TABLE '[^']+' \( \n(?:\t(?!(?:${RESERVED_WORD}) )${BARE_NAME} (?:${TYPE})(?:,\n|\n(?=\))))+\)` +
    String.raw`(?: timestamp\(${BARE_NAME}\) PARTITION BY \w+(?: TTL \d+ \w+)?(?: BYPASS WAL| WAL)?)?` +
    String.raw`(?:\nWITH maxUncommittedRows=\d+, o3MaxLag=\d+us)?` +
    String.raw`(?:\nDEDUP UPSERT KEYS\(${BARE_NAME}(?:,${BARE_NAME})*\))?;$`,
);

/** Whether a row is one statement that makes a table, with nothing to repair; found fast, as nearly all are. */
export const isCleanTable = (row: string): boolean => CLEAN_TABLE.test(row);

/** The statement with names in quotes that need them. */
export function repairTable(row: string, notes: string[]): string {
  const head = /^CREATE TABLE '[^']+' (?=\( \n\t)/.exec(row)?.[0];
  const end = row.indexOf('\n)');
  if (!head || end < 0) return row;
  const quoted = new Set<string>();
  const name = (bare: string): string => {
    // What no column can be called was written by somebody, such as two columns on a line.
    if (!needsQuotes(bare) || !isValidColumnName(bare)) return bare;
    quoted.add(bare);
    return quoteName(bare);
  };
  const inList = (formatColumns: RegExp, comma: string, text: string): string =>
    text.replace(
      formatColumns,
      (_, before: string, names: string) => before + names.split(comma).map(name).join(comma),
    );
  const column = (line: string): Column => {
    const blank = line.indexOf(' ');
    const [, bare = line.slice(0, blank), definition = line.slice(blank + 1)] = COLUMN.exec(line) ?? [];
    return { name: name(bare), definition: inList(/( INCLUDE \()([^()]*)/, ', ', definition) };
  };

  const columns = row.slice(`${head}( \n\t`.length, end).split(',\n\t').map(column);
  const tail = inList(/^(\n\) timestamp\()([^()]*)/, ',', row.slice(end));
  const repaired =
    head + list(columns, notes) + repairVolume(inList(/(\nDEDUP UPSERT KEYS\()([^()]*)/, ',', tail), notes);
  if (quoted.size) notes.push(`added quotes to names that need them: ${Array.from(quoted, quoteName).join(', ')}`);
  return repaired;
}

const TYPE_NAME = String.raw`[A-Za-z]\w*(?:\(\w+(?:,\w+)?\))?(?:\[\])*`;
const MADE_COLUMN = String.raw`(?:CAST\(NULL AS ${TYPE_NAME}\)|ARRAY\[\]) AS (?:[^\s"'\`(),;/*-]+|"[^"\n]+")`;
const REPAIR_FORM = new RegExp(
  String.raw`^CREATE TABLE '[^']+' AS \(\nSELECT ${MADE_COLUMN}(?:, ${MADE_COLUMN})* FROM long_sequence\(0\)\n\)`,
);

/** Whether a table is made by a query that `repair` wrote, which reads nothing. */
export const isRepairForm = (statement: string): boolean => REPAIR_FORM.test(statement);

interface Column {
  name: string;
  definition: string;
}

/** The columns up to the closing parenthesis. An array of nothing (`SELECT ARRAY[]`) has a type that only a query can give. */
function list(columns: Column[], notes: string[]): string {
  const untyped = columns.filter(({ definition }) => definition === 'ARRAY');
  const options = columns.some(({ definition }) => definition.includes(' '));
  if (!untyped.length || options)
    return `( \n\t${columns.map(each => `${each.name} ${each.definition}`).join(',\n\t')}`;
  notes.push(
    `rewritten as a query, because the type of ${untyped.map(each => each.name).join(', ')} cannot be written`,
  );
  const select = columns.map(({ name, definition }) =>
    definition === 'ARRAY' ? `ARRAY[] AS ${name}` : `CAST(NULL AS ${definition}) AS ${name}`,
  );
  return `AS (\nSELECT ${select.join(', ')} FROM long_sequence(0)`;
}
