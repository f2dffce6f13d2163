/*! Prints definitions byte for byte as SHOW CREATE does (source: ShowCreate…RecordCursorFactory after 9.3.4). */
import { kindKeywords } from '@sqlpipe/sql';
import { COLUMN_PROPERTIES } from './columns/column-properties.js';
import { INDEX } from './columns/indexes.js';
import { CACHE, TYPE } from './columns/type.js';
import type { Column, Definition, TableDefinition } from './definition.js';
import { quoteName } from './parser/names.js';
import { type AnyProperty, clausesOf } from './properties/object-properties.js';
import type { PrintOptions } from './property.js';

/** Prints the statement that creates an object, with its semicolon; by default exactly as QuestDB 9.3 and later print it. */
export function printDefinition(definition: Definition, given: Partial<PrintOptions> = {}): string {
  const options: PrintOptions = { form: '9.3', quoted: false, ...given };
  const { kind, name } = definition;
  const print = (properties: readonly AnyProperty[]): string =>
    properties.map(property => property.print?.(definition, options) ?? '').join('');
  const { before, after } = clausesOf(kind);
  const content =
    kind === 'table' ? printColumns(definition, options) : `AS (${kind === 'view' ? ' ' : ''}\n${definition.body}\n)`;
  return `CREATE ${kindKeywords(kind)} '${name}'${print(before)} ${content}${print(after)};`;
}

/** No server prints LIKE, nor the AS of a table. */
function printColumns({ like, query, columns }: TableDefinition, options: PrintOptions): string {
  if (like !== undefined) return `(LIKE '${like}')`;
  if (query !== undefined)
    return `AS (\n${query}\n)${columns.map(column => printColumnOfQuery(column, options)).join('')}`;
  const lines = columns.map(column => {
    const name = options.quoted ? quoteName(column.name) : column.name;
    return `\t${name}${COLUMN_PROPERTIES.map(({ print }) => print?.(column, options)).join('')}`;
  });
  return `( \n${lines.join(',\n')}\n)`;
}

function printColumnOfQuery(column: Column, options: PrintOptions): string {
  const name = quoteName(column.name);
  const type = [TYPE, CACHE].map(({ print }) => print?.(column, options)).join('');
  const index = INDEX.print?.(column, options) ?? '';
  const cast = column.type && `, CAST(${name} AS${type})`;
  return `${cast}${index && `, INDEX(${name}${index.replace(' INDEX', '')})`}`;
}
