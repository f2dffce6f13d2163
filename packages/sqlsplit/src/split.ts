import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { fromText, readFolder } from '@sqlpipe/files';

/** The statements of the files and folders one after the other; of standard input where there is none, or for `-`. */
export async function* split(files: string[], stdin: () => Readable, maxLength: number): AsyncGenerator<string[]> {
  for (const file of files.length ? files : ['-']) {
    try {
      if (file === '-') yield* fromText(stdin(), 'standard input', maxLength);
      else if (await isFolder(file)) yield await readFolder(file, maxLength);
      else yield* fromText(createReadStream(file), file, maxLength);
    } catch (error) {
      if (['open', 'stat'].includes((error as NodeJS.ErrnoException).syscall ?? ''))
        Object.assign(error as Error, { code: 'NOINPUT' });
      throw error;
    }
  }
}

const isFolder = async (path: string): Promise<boolean> => (await stat(path)).isDirectory();
