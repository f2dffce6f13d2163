import { parseMeaning, parseRights, type Right } from '@sqlpipe/ddl';
import { givesRight } from '@sqlpipe/sql';
import type { Entry, Schema } from './schema.js';

/**
 * Parses the rights that an entry of a schema gives; undefined if it gives none, or if they are not known. `*` stands for the
 * columns that a table has in the schema. No method of `Schema`, because programs that only sort or select do without the parser.
 */
export const parseEntryRights = (schema: Schema, { kind, statement }: Entry): Right[] | undefined =>
  givesRight(kind) ? parseRights(statement, table => columnsOf(schema, table)) : undefined;

function columnsOf(schema: Schema, table: string): string[] | undefined {
  const entry = schema.findObject(table);
  const meaning = entry?.kind === 'table' ? parseMeaning(entry.statement) : undefined;
  if (meaning?.kind !== 'table' || meaning.like !== undefined || meaning.query !== undefined) return undefined;
  return meaning.columns.map(({ name }) => name);
}
