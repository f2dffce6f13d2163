/*! The input of a run: files and folders, or a stream on standard input; and the location of each statement. */
import { type Io, UsageError } from '@sqlpipe/cli';
import { type LocatedStatement, readLocatedSource } from '@sqlpipe/files';
import { decodeRecords, StreamError } from '@sqlpipe/records';
import { significantTokens } from '@sqlpipe/sql';
import type { ApplyOptions } from './options.js';

/** The file and line of a statement. */
export type Location = Omit<LocatedStatement, 'statement'>;

/** The statements of a run. */
export interface Input extends AsyncIterable<string> {
  /** The locations of the statements read so far, in their order; undefined for those of standard input. */
  readonly locations: readonly (Location | undefined)[];
}

/**
 * Opens the input: the files and folders that are the operands after INSTANCE.
 * @throws UsageError, and errors of reading
 */
export function openInput({ operands: [, ...files], ...options }: ApplyOptions, io: Io): Input {
  if (files.length && options.stream) throw new UsageError('--stream works only with standard input, not with files');
  if (files.indexOf('-') !== files.lastIndexOf('-')) throw new UsageError('standard input can be read only once');
  const locations: (Location | undefined)[] = [];
  async function* read(): AsyncGenerator<string> {
    for (const file of files.length ? files : ['-'])
      if (file === '-') yield* readStream();
      else yield* readFile(file);
  }
  async function* readStream(): AsyncGenerator<string> {
    for await (const statement of decodeRecords(io.stdin(), options)) {
      locations.push(undefined);
      yield statement;
    }
  }
  async function* readFile(file: string): AsyncGenerator<string> {
    for await (const batch of withLabel(readLocatedSource(file, options.maxRecord), file)) {
      io.interrupted.throwIfAborted();
      for (const { statement, ...location } of batch) {
        locations.push(location);
        yield statement;
      }
    }
  }
  return { locations, [Symbol.asyncIterator]: read };
}

/** Whether the input includes standard input. */
export const readsStdin = ({ operands: [, ...files] }: Pick<ApplyOptions, 'operands'>): boolean =>
  files.length === 0 || files.includes('-');

/** Adds the file's name to errors of a stream, which do not contain it. */
async function* withLabel<T>(source: AsyncIterable<T>, label: string): AsyncGenerator<T> {
  try {
    yield* source;
  } catch (error) {
    if (error instanceof StreamError) throw new StreamError(`${label}: ${error.message}`, { cause: error });
    throw error;
  }
}

/**
 * A location for messages, `schema.sql:42`: the line of a position in the statement or, without one, of its first word.
 */
export function formatLocation({ path, line }: Location, statement: string, position?: number): string {
  if (line === undefined) return path;
  const [first] = significantTokens(statement);
  const before = statement.slice(0, position ?? first?.start ?? 0);
  return `${path}:${line + before.split('\n').length - 1}`;
}
