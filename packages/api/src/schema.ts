/*! Reads a schema, wherever it is: on an instance, in files or in memory. */
import { type Location, readStatementsAt } from '@sqlpipe/files';
import { type ConnectionConfig, dump, hasAddressSyntax } from '@sqlpipe/instance';
import { collectStatements, deduplicate } from '@sqlpipe/schema';
import { MAX_RECORD, normalizeStatement } from '@sqlpipe/sql';
import { CodedError } from '@sqlpipe/text';
import { type InstanceOptions, type OnWarning, resolve } from './instance.js';

/**
 * Where a schema is read from:
 *
 * - an instance: an address with `://` or `::`, or an object with a `url`;
 * - any other string: the path of a `.sql` file, of a folder that `join` or `sqljoin -d` wrote, or of a stream;
 * - an iterable of statements.
 */
export type SchemaSource = string | InstanceOptions | Iterable<string> | AsyncIterable<string>;

/** A schema that is read when it is needed. */
export interface OpenedSchema {
  /** Where the statements are that have been read from files, in their order. */
  readonly locations: readonly Location[];
  /** What it is called in messages. */
  readonly label: string;
  /** How to connect, if it is an instance. */
  readonly config?: ConnectionConfig;
  readonly statements: AsyncIterable<string | string[]>;
}

/**
 * Finds a schema; an instance is resolved, and nothing is read yet.
 * @param reportInvalid whether to warn of views that are invalid on the instance
 * @throws InstanceError with the code CONFIG
 */
export async function openSchema(
  source: SchemaSource,
  warn?: OnWarning,
  { reportInvalid = true } = {},
): Promise<OpenedSchema> {
  if (typeof source === 'string' && !hasAddressSyntax(source)) return openPath(source);
  const isObject = typeof source === 'object' && source !== null;
  if (typeof source === 'string' || (isObject && 'url' in source)) {
    const config = await resolve(source, warn);
    const statements = dump(config, { reportInvalid, ...(warn && { warn }) });
    return { label: config.label, config, locations: [], statements };
  }
  if (isObject && (Symbol.iterator in source || Symbol.asyncIterator in source))
    return { label: 'schema', locations: [], statements: normalize(source) };
  throw new CodedError('USAGE', 'a schema is an address, a path, an object with a url, or an iterable of statements');
}

function openPath(path: string): OpenedSchema {
  const locations: Location[] = [];
  async function* read(): AsyncGenerator<string[]> {
    for await (const batch of readStatementsAt(path, MAX_RECORD)) {
      for (const { statement: _, ...location } of batch) locations.push(location);
      yield batch.map(({ statement }) => statement);
    }
  }
  return { label: path, locations, statements: read() };
}

/** Finds two schemas, then reads each statement of them once. @throws whatever reading them throws, DuplicateNameError */
export async function readSides(a: SchemaSource, b: SchemaSource, warn?: OnWarning) {
  const openSide = (source: SchemaSource) => openSchema(source, warn, { reportInvalid: false });
  const [openA, openB] = [await openSide(a), await openSide(b)];
  const read = async ({ config, statements }: OpenedSchema) => ({
    config,
    statements: deduplicate(await collectStatements(statements)),
  });
  return [await read(openA), await read(openB)] as const;
}

async function* normalize(statements: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  for await (const statement of statements) {
    if (typeof statement !== 'string') throw new CodedError('USAGE', 'a statement of a schema is not a string');
    if (!statement.isWellFormed())
      throw new CodedError('DAMAGED', 'a statement of a schema contains half of a surrogate pair');
    const normalized = normalizeStatement(statement);
    if (normalized) yield normalized;
  }
}
