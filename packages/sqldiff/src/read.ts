/*! The statements of one side, all of them: nothing is compared with half a schema. */
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Conflict, collect, distinct, type Room, type Selection } from '@sqlpipe/catalog';
import { fromText, readFolder } from '@sqlpipe/files';
import { type DumpOptions, dump, InstanceError } from '@sqlpipe/instance';
import { StreamError, statements } from '@sqlpipe/records';
import { identify } from '@sqlpipe/sql';
import type { Side } from './side.js';

export interface ReadOptions extends Pick<DumpOptions, 'maxRecord' | 'warn'> {
  selection: Selection;
  /** For the statements of both sides. */
  room: Room;
  /** The statements of standard input. */
  stdin: AsyncIterable<string>;
}

/**
 * The statements of a side that are selected, each once.
 * @throws what reading it says: InstanceError, StreamError, TextError, Conflict, errors of the file system
 */
export async function read({ target, path, label }: Side, options: ReadOptions): Promise<string[]> {
  const { selection, maxRecord, warn, room } = options;
  const source = target ? dump(target, { selection, maxRecord, warn }) : atRest(path, options);
  try {
    return distinct(await collect(source, statement => selection.selects(identify(statement).kind), room));
  } catch (error) {
    throw explained(error as NodeJS.ErrnoException, label);
  }
}

/** A file called `*.sql` without a NUL is text. All else is a stream, or a stream that was cut where its first NUL should be. */
async function* atRest(path: string, { stdin, maxRecord }: ReadOptions): AsyncGenerator<string | string[]> {
  if (path === '-') yield* stdin;
  else if ((await stat(path)).isDirectory()) yield* await readFolder(path, maxRecord);
  else if (!path.endsWith('.sql')) yield* statements(createReadStream(path), { maxRecord });
  else {
    const bytes = await readFile(path);
    const chunks = Readable.from(pieces(bytes));
    yield* bytes.includes(0) ? statements(chunks, { maxRecord }) : fromText(chunks, path, maxRecord);
  }
}

/** In pieces as a file would be read by: text of any length at once fits into no string. */
function* pieces(bytes: Buffer): Generator<Buffer> {
  const size = 64 * 1024;
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What went wrong, and on which side where the error does not say. A server that says no does not say that they differ. */
function explained(error: NodeJS.ErrnoException, label: string): Error {
  if (error.syscall === 'stat' || error.syscall === 'open') return Object.assign(error, { code: 'NOINPUT' });
  if (error instanceof StreamError || error instanceof Conflict)
    return new StreamError(`${label}: ${error.message}`, { cause: error });
  if (error instanceof InstanceError && error.code === 'REFUSED')
    return new InstanceError('UNREACHABLE', error.message, { cause: error });
  return error;
}
