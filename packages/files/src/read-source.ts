/*! Reads stored statements from a folder, a stream file or `.sql` text. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { decodeRecords } from '@sqlpipe/records';
import { readLocatedFolder } from './folder.js';
import { type LocatedStatement, parseLocatedFile } from './text.js';

/**
 * Reads the statements of a folder that `writeFolder` wrote, of a stream file, or of a file of `.sql` text, in batches. A
 * file `*.sql` without a NUL is text. Any other file is a stream, or a stream that was truncated in its first record.
 *
 * @param maxRecord the maximum length of a record in bytes, and of a statement in UTF-16 code units
 * @throws StreamError, TextError, FolderError, DuplicateNameError; errors of opening have the code `NOINPUT`
 */
export async function* readSource(path: string, maxRecord: number): AsyncGenerator<string[]> {
  for await (const batch of readLocatedSource(path, maxRecord)) yield batch.map(({ statement }) => statement);
}

/** Like `readSource`, with the file and line of each statement. @throws like `readSource` */
export async function* readLocatedSource(path: string, maxRecord: number): AsyncGenerator<LocatedStatement[]> {
  const kind = await detectKind(path);
  if (kind === 'folder') yield await readLocatedFolder(path, maxRecord);
  else if (kind === 'text') yield* withPath(parseLocatedFile(path, maxRecord), path);
  else
    for await (const statement of withPath(decodeRecords(createReadStream(path), { maxRecord }), path))
      yield [{ statement, path }];
}

/** Reads the statements of a file of `.sql` text. @throws TextError; errors of opening have the code `NOINPUT` */
export async function* readTextFile(path: string, maxLength: number): AsyncGenerator<string[]> {
  for await (const batch of withPath(parseLocatedFile(path, maxLength), path))
    yield batch.map(({ statement }) => statement);
}

/** Whether a path is that of a folder. @throws errors of the file system, with the code `NOINPUT` */
export async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(error => rethrowWithPath(error, path))).isDirectory();
}

async function detectKind(path: string): Promise<'folder' | 'stream' | 'text'> {
  if (await isFolder(path)) return 'folder';
  if (!path.endsWith('.sql')) return 'stream';
  for await (const chunk of withPath(createReadStream(path), path)) if ((chunk as Buffer).includes(0)) return 'stream';
  return 'text';
}

async function* withPath<T>(source: AsyncIterable<T>, path: string): AsyncGenerator<T> {
  try {
    yield* source;
  } catch (error) {
    rethrowWithPath(error as NodeJS.ErrnoException, path);
  }
}

/** Rethrows an error: a failure to open a file gets the code `NOINPUT`, and a failure to read gets the path. */
function rethrowWithPath(error: NodeJS.ErrnoException, path: string): never {
  if (error.syscall === 'open' || error.syscall === 'stat') error.code = 'NOINPUT';
  else if (error.syscall) error.path ??= path;
  throw error;
}
