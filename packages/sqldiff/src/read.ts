/*! The statements of one side, all of them: nothing is compared with half a schema. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Selection } from '@sqlpipe/catalog';
import { fromText } from '@sqlpipe/files';
import { type DumpOptions, dump } from '@sqlpipe/instance';
import { StreamError, statements } from '@sqlpipe/records';
import { identify } from '@sqlpipe/sql';
import type { Side } from './side.js';

export interface ReadOptions extends Pick<DumpOptions, 'maxRecord' | 'warn'> {
  selection: Selection;
  /** The statements of standard input. */
  stdin: AsyncIterable<string>;
}

/**
 * The statements of a side that are selected.
 * @throws what reading it says: InstanceError, StreamError, TextError, errors of the file system
 */
export async function read({ target, path, label }: Side, options: ReadOptions): Promise<string[]> {
  const { selection, maxRecord, warn } = options;
  const source = target
    ? dump(target, { selection, maxRecord, warn, via: 'auto', verbatim: false, skipInvalid: false })
    : atRest(path, options);
  const all: string[] = [];
  try {
    for await (const batch of source)
      for (const statement of [batch].flat()) if (selection.selects(identify(statement).kind)) all.push(statement);
  } catch (error) {
    throw explained(error as NodeJS.ErrnoException, label);
  }
  return all;
}

/** A file called `*.sql` without a NUL is text. All else is a stream, or a stream that was cut where its first NUL should be. */
async function* atRest(path: string, { stdin, maxRecord }: ReadOptions): AsyncGenerator<string | string[]> {
  if (path === '-') yield* stdin;
  else if (!path.endsWith('.sql')) yield* statements(createReadStream(path), { maxRecord });
  else {
    const bytes = await readFile(path);
    const chunks = Readable.from([bytes]);
    yield* bytes.includes(0) ? statements(chunks, { maxRecord }) : fromText(chunks, path, maxRecord);
  }
}

/** What went wrong, and on which side: both may be streams, which know of no name. */
function explained(error: NodeJS.ErrnoException, label: string): Error {
  if (error.syscall === 'open') return Object.assign(error, { code: 'NOINPUT' });
  if (error instanceof StreamError) return new StreamError(`${label}: ${error.message}`, { cause: error });
  return error;
}
