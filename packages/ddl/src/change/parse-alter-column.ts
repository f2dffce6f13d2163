/*! Parses ALTER COLUMN of a table or a materialized view. */
import { isSameName } from '@sqlpipe/sql';
import { COLUMN_PROPERTIES, type ColumnAlteration } from '../columns/column-properties.js';
import type { Cursor } from '../grammar/cursor.js';
import type { FoundObject, NameLookup } from '../grammar/lookup.js';
import { unquoteToken } from '../grammar/names.js';
import { RejectionError } from '../grammar/rejection-error.js';

const WORDS_OF_TABLE = "'add index' or 'drop index' or 'type' or 'cache' or 'nocache' or 'symbol'";
const WORDS_OF_VIEW = "'symbol capacity', 'add index' or 'drop index'";

/** Parses what is changed, after COLUMN. */
export function parseColumnAlteration(cursor: Cursor, lookup: NameLookup, found: FoundObject): ColumnAlteration {
  const { object } = found;
  const isTable = object.kind === 'table';
  const position = cursor.readOffset;
  const name = unquoteToken(cursor.requireNoSemicolon('column name'));
  const column = object.columns?.find(each => isSameName(each.name, name));
  if (object.columns && !column)
    throw new RejectionError(position, `column '${name}' does not exist in ${object.kind} '${object.name}'`);
  const token = cursor.requireNoSemicolon(isTable ? WORDS_OF_TABLE : WORDS_OF_VIEW);
  const word = token.toLowerCase();
  const property = COLUMN_PROPERTIES.find(
    ({ alter }) => (isTable || alter.worksOnViews) && Object.hasOwn(alter.syntax, word),
  );
  const parse = property?.alter.syntax[word];
  if (!parse)
    throw cursor.error(
      isTable
        ? `'add', 'drop', 'set', 'symbol', 'cache' or 'nocache' expected found '${token}'`
        : `${WORDS_OF_VIEW} expected`,
    );
  return parse(cursor, lookup, { object, name, column, position, objectPosition: found.position });
}
