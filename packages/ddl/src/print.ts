/*! Prints definitions as SHOW CREATE does, byte for byte (read in ShowCreate…RecordCursorFactory; if versions differ, after 9.3.4). */
import { COLUMN_PROPERTIES } from './columns/column-properties.js';
import type { Column, Definition } from './definition.js';
import { quoteName } from './grammar/names.js';
import { type AnyProperty, propertiesAfterQuery, propertiesOf } from './properties/object-properties.js';
import type { PrintOptions } from './property.js';

/** Prints the statement that creates an object, with its semicolon; by default exactly as QuestDB 9.3 prints it. */
export function printDefinition(definition: Definition, given: Partial<PrintOptions> = {}): string {
  const options: PrintOptions = { form: '9.3', quoted: false, ...given };
  const { kind, name } = definition;
  const print = (properties: readonly AnyProperty[]): string =>
    properties.map(property => property.print?.(definition, options) ?? '').join('');
  if (kind === 'table') {
    const list = definition.columns.map(column => formatColumn(column, options)).join(',\n');
    return `CREATE TABLE '${name}' ( \n${list}\n)${print(propertiesOf(kind))};`;
  }
  const after = propertiesAfterQuery(kind);
  const head = `CREATE ${kind.toUpperCase()} '${name}'${print(propertiesOf(kind).slice(0, -after.length))}`;
  return `${head} AS (${kind === 'view' ? ' ' : ''}\n${definition.body}\n)${print(after)};`;
}

function formatColumn(column: Column, options: PrintOptions): string {
  const name = options.quoted ? quoteName(column.name) : column.name;
  return `\t${name}${COLUMN_PROPERTIES.map(({ print }) => print?.(column, options)).join('')}`;
}
