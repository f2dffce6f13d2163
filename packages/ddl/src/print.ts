/*!
 * Definitions as statements, in the form that SHOW CREATE and the dump print, byte for byte (read in the
 * ShowCreate…RecordCursorFactory classes; later than 9.3.4 where the two differ).
 */
import type { Column, Definition } from './definition.js';
import type { PrintOptions } from './properties/property.js';
import { propertiesOf, type TableEntry } from './properties/table.js';
import { quoteName } from './reserved-names.js';

/** Prints what a server may have another default for. */
export const EXPLICIT: PrintOptions = { form: '9.0', quoted: true };

const PRINTED_OPTIONS: PrintOptions = { form: '9.3', quoted: false };

/** Prints the statement that creates an object, with its semicolon; by default exactly as QuestDB 9.3 prints it. */
export function printDefinition(definition: Definition, given: Partial<PrintOptions> = {}): string {
  const options = { ...PRINTED_OPTIONS, ...given };
  const { kind, name } = definition;
  const print = (properties: readonly TableEntry[]): string =>
    properties.map(property => property.print?.(definition, options) ?? '').join('');
  if (kind === 'table') {
    const list = definition.columns.map(column => formatColumn(column, options)).join(',\n');
    return `CREATE TABLE '${name}' ( \n${list}\n)${print(propertiesOf(kind))};`;
  }
  const properties = propertiesOf(kind);
  const afterBody = properties.findIndex(property => property.name === FIRST_AFTER_BODY[kind]);
  const head = `CREATE ${kind.toUpperCase()} '${name}'${print(properties.slice(0, afterBody))}`;
  return `${head} AS (${kind === 'view' ? ' ' : ''}\n${definition.body}\n)${print(properties.slice(afterBody))};`;
}

/** The property of each kind of view whose clause is the first after the query. */
const FIRST_AFTER_BODY = { view: 'owner', 'materialized view': 'partitioning', 'live view': 'owner' };

const nameFormatter =
  ({ quoted }: PrintOptions) =>
  (name: string): string =>
    quoted ? quoteName(name) : name;

function formatColumn(column: Column, options: PrintOptions): string {
  const { name, type, parquet } = column;
  const symbol = type === 'SYMBOL' ? formatSymbol(column, options) : '';
  return `\t${nameFormatter(options)(name)} ${type}${symbol}${parquet ? ` PARQUET(${parquet})` : ''}`;
}

function formatSymbol({ cached, capacity, index }: Column, options: PrintOptions): string {
  if (options.form === '9.3') return `${cached ? '' : ' NOCACHE'}${formatIndex(index, options)}`;
  const size = capacity === undefined ? '' : ` CAPACITY ${capacity}`;
  return `${size}${cached ? ' CACHE' : ' NOCACHE'}${formatIndex(index, options)}`;
}

/** The index clause after the type of a column, with a leading blank; '' if there is no index. */
export function formatIndex(index: Column['index'], options: PrintOptions = PRINTED_OPTIONS): string {
  if (!index) return '';
  if (index.capacity !== undefined) return ` INDEX CAPACITY ${index.capacity}`;
  const covered = index.covered.map(nameFormatter(options)).join(', ');
  return ` INDEX TYPE ${index.type}${covered ? ` INCLUDE (${covered})` : ''}`;
}
