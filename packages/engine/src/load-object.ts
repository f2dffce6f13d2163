/*! Makes objects from the statements of a dump. What a query decides is derived later, see `Catalogue.resolve`. */
import { type Definition, findReferences, findSampling, UNLIMITED } from '@sqlpipe/ddl';
import type { Entry, Health, Schema } from '@sqlpipe/schema';
import { foldCase, type Kind } from '@sqlpipe/sql';
import { type CatalogueObject, toStoredColumn } from './catalogue-objects.js';

/** Makes the object that a statement of a schema creates, as far as it is known without its query. */
export function loadObject(entry: Entry, schema: Schema, health: Health | undefined): CatalogueObject {
  const { kind, name, statement } = entry;
  const parsed = schema.definitionOf(entry);
  const isKnown = parsed !== undefined && !('query' in parsed && parsed.query !== undefined);
  const definition = isKnown ? parsed : unknownDefinition(kind, name);
  const reported = isKnown ? health : undefined;
  const key = foldCase(name);
  const reason = reported?.invalid?.get(key);
  const invalid = reason !== undefined && { invalid: reason };
  const references = findReferences(statement, each => schema.findObject(each)?.kind === 'view');
  const opaque = !isKnown && { opaque: statement };
  const common = { columns: [], references, ...(isKnown ? { isUncompiled: true } : opaque) };
  switch (definition.kind) {
    case 'table':
      return { ...definition, ...opaque, ...(reported?.suspended?.has(key) && { isSuspended: true }) };
    case 'view':
      return { ...definition, ...common, ...(reason !== undefined && { invalid: { reason, position: 0 } }) };
    case 'materialized view':
      return {
        ...definition,
        ...common,
        columns: reported?.columns?.get(key)?.map(column => toStoredColumn(column, definition)) ?? [],
        base: definition.base ?? references[0] ?? '',
        partitionBy: definition.partitionBy ?? 'DAY',
        interval: findSampling(definition.body)?.interval ?? '',
        neverRefreshed: reported?.neverRefreshed?.has(key) ?? false,
        ...(reported?.partlyRefreshed?.has(key) && { partlyRefreshed: true }),
        ...invalid,
      };
    default: {
      const partitionBy = definition.partitionBy ?? 'DAY';
      return { ...definition, ...common, base: references[0] ?? '', partitionBy, ...invalid };
    }
  }
}

/** Takes the place of a definition that is not known: a view may read any column from the object. */
function unknownDefinition(kind: Kind, name: string): Definition {
  const body = '';
  switch (kind) {
    case 'view':
      return { kind, name, body };
    case 'live view':
      return { kind, name, body, flush: '', inMemory: '', start: 'NOW', ...UNLIMITED };
    case 'materialized view':
      return { kind, name, body, refresh: { type: 'MANUAL', deferred: false }, ...UNLIMITED };
    default:
      return { kind: 'table', name, columns: [], partitionBy: 'DAY', ...UNLIMITED, wal: true, parquet: false };
  }
}
