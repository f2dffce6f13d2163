/*! Reads the input of a run from files and folders or standard input, with the location of each statement. */
import { type Io, UsageError } from '@sqlpipe/cli';
import { readLocatedInput, readLocatedSource } from '@sqlpipe/files';
import { type DeferredInput, deferInput, StreamError } from '@sqlpipe/records';
import type { Location } from '@sqlpipe/replay';
import type { ApplyOptions } from './options.js';

/** The statements of a run. */
export interface Input extends DeferredInput {
  /** The locations of the statements read so far, in their order; undefined for those of a stream. */
  readonly locations: readonly (Location | undefined)[];
  /** Stops waiting for more statements. */
  stop(): void;
}

/** Opens the input: the files and folders that are the operands after INSTANCE. @throws UsageError, and errors of reading */
export function openInput({ operands: [, ...files], ...options }: ApplyOptions, io: Io): Input {
  if (files.length && options.stream) throw new UsageError('--stream works only with standard input, not with files');
  if (files.indexOf('-') !== files.lastIndexOf('-')) throw new UsageError('standard input can be read only once');
  const locations: (Location | undefined)[] = [];
  const readsStdin = files.length === 0 || files.includes('-');
  async function* read(): AsyncGenerator<string> {
    for (const file of files.length ? files : ['-']) {
      const isStdin = file === '-';
      const batches = isStdin
        ? readLocatedInput(io.stdin(), options)
        : withLabel(readLocatedSource(file, options.maxRecord), file);
      for await (const batch of batches) {
        if (!isStdin) io.interrupted.throwIfAborted();
        for (const { statement, ...location } of batch) {
          locations.push(isStdin && location.line === undefined ? undefined : location);
          yield statement;
        }
      }
    }
  }
  return {
    ...deferInput(read),
    locations,
    stop() {
      if (readsStdin) io.stdin().destroy();
    },
  };
}

/** Adds the file's name to errors of a stream, which do not contain it. */
async function* withLabel<T>(source: AsyncIterable<T>, label: string): AsyncGenerator<T> {
  try {
    yield* source;
  } catch (error) {
    if (error instanceof StreamError) throw new StreamError(`${label}: ${error.message}`, { cause: error });
    throw error;
  }
}
