import type { Readable } from 'node:stream';
import { isFolder, parseSqlText, readFolder, readTextFile } from '@sqlpipe/files';

/** The statements of the files and folders in order. `-`, or no file at all, stands for standard input. */
export async function* readStatements(
  files: string[],
  stdin: () => Readable,
  maxLength: number,
): AsyncGenerator<string[]> {
  for (const file of files.length ? files : ['-']) {
    if (file === '-') yield* parseSqlText(stdin(), 'standard input', maxLength);
    else if (await isFolder(file)) yield await readFolder(file, maxLength);
    else yield* readTextFile(file, maxLength);
  }
}
