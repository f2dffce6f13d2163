/*! Statements at rest, whatever they are kept in: a folder, a stream, or `.sql` text. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { decodeRecords } from '@sqlpipe/records';
import { readLocatedFolder } from './folder.js';
import { type LocatedStatement, parseLocatedText, parseSqlText } from './text.js';

/**
 * The statements of a folder that `writeFolder` wrote, a stream file, or a file of `.sql` text, many at once where they come so.
 * A file called `*.sql` without a NUL is text. All else is a stream, or a stream that was cut where its first NUL should be.
 *
 * @param maxRecord the longest record in bytes, and the longest statement in UTF-16 code units
 * @throws StreamError, TextError, FolderError, DuplicateNameError; errors of opening have the code `NOINPUT`
 */
export async function* readSource(path: string, maxRecord: number): AsyncGenerator<string[]> {
  for await (const batch of readLocatedSource(path, maxRecord)) yield batch.map(({ statement }) => statement);
}

/** As `readSource`, each statement with its file and line. @throws as `readSource` */
export async function* readLocatedSource(path: string, maxRecord: number): AsyncGenerator<LocatedStatement[]> {
  const kind = await detectKind(path);
  if (kind === 'folder') yield await readLocatedFolder(path, maxRecord);
  else if (kind === 'text') yield* withPath(parseLocatedText(createReadStream(path), path, maxRecord), path);
  else
    for await (const statement of withPath(decodeRecords(createReadStream(path), { maxRecord }), path))
      yield [{ statement, path }];
}

/** The statements of a file of text. @throws TextError; errors of opening have the code `NOINPUT` */
export async function* readTextFile(path: string, maxLength: number): AsyncGenerator<string[]> {
  yield* withPath(parseSqlText(createReadStream(path), path, maxLength), path);
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

/** What can not be opened is no damaged input; what can not be read is named. */
function rethrowWithPath(error: NodeJS.ErrnoException, path: string): never {
  if (error.syscall === 'open' || error.syscall === 'stat') error.code = 'NOINPUT';
  else if (error.syscall) error.path ??= path;
  throw error;
}
