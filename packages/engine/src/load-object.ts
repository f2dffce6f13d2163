/*! Objects of a dump: what their statements say, before anything is derived from their queries. */
import { type Definition, findReferences, findSampling } from '@sqlpipe/ddl';
import type { Health } from '@sqlpipe/schema';
import { foldCase, type Kind } from '@sqlpipe/sql';
import { type CatalogueObject, toStoredColumn } from './catalogue-objects.js';

/** A statement that creates an object, with its definition if its syntax is known. */
interface LoadedStatement {
  readonly kind: Kind;
  readonly name: string;
  readonly statement: string;
  readonly meaning: Definition | undefined;
}

/** The object that a statement creates, as it is known without its query. */
export function loadObject(
  { kind, name, statement, meaning }: LoadedStatement,
  { isView, health }: { isView: (name: string) => boolean; health: Health | undefined },
): CatalogueObject {
  const reason = health?.invalid?.get(foldCase(name));
  const references = findReferences(statement, isView);
  if (!meaning || ('query' in meaning && meaning.query !== undefined))
    return toOpaque({ kind, name, statement, meaning }, references);
  const common = { isLoaded: true, columns: [], references };
  switch (meaning.kind) {
    case 'table':
      return health?.suspended?.has(foldCase(name)) ? { ...meaning, isSuspended: true } : meaning;
    case 'view':
      return { ...meaning, ...common, ...(reason !== undefined && { invalid: { reason, position: 0 } }) };
    case 'materialized view':
      return {
        ...meaning,
        ...common,
        columns: health?.columns?.get(foldCase(name))?.map(column => toStoredColumn(column, meaning)) ?? [],
        base: meaning.base ?? references[0] ?? '',
        partitionBy: meaning.partitionBy ?? 'DAY',
        interval: findSampling(meaning.body)?.interval ?? '',
        neverRefreshed: health?.neverRefreshed?.has(foldCase(name)) ?? false,
        ...(reason !== undefined && { invalid: reason }),
      };
    default:
      return {
        ...meaning,
        ...common,
        base: references[0] ?? '',
        partitionBy: meaning.partitionBy ?? 'DAY',
        ...(reason !== undefined && { invalid: reason }),
      };
  }
}

/** An object whose columns are not known: anything may be read from it. */
function toOpaque({ kind, name, statement, meaning }: LoadedStatement, references: readonly string[]): CatalogueObject {
  const body = meaning && 'body' in meaning ? meaning.body : '';
  const view = { name, body, columns: [], references, opaque: statement };
  const storage = { partitionBy: 'DAY', ttl: 0, timestamp: undefined } as const;
  if (kind === 'view') return { kind, ...view };
  if (kind === 'live view')
    return {
      kind,
      ...view,
      ...storage,
      base: references[0] ?? '',
      flush: '',
      inMemory: '',
      start: 'NOW',
    };
  if (kind === 'materialized view')
    return {
      kind,
      ...view,
      ...storage,
      base: references[0] ?? '',
      interval: '',
      refresh: { type: 'MANUAL', deferred: false },
    };
  return { kind: 'table', name, columns: [], opaque: statement, ...storage, wal: true, parquet: false };
}
