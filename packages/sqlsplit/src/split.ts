import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { fromText } from '@sqlpipe/files';

/** The statements of the files one after the other; of standard input where there is none, or for `-`. */
export async function* split(files: string[], stdin: () => Readable, maxLength: number): AsyncGenerator<string[]> {
  for (const file of files.length ? files : ['-']) {
    try {
      if (file === '-') yield* fromText(stdin(), 'standard input', maxLength);
      else yield* fromText(createReadStream(file), file, maxLength);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall === 'open') Object.assign(error as Error, { code: 'NOINPUT' });
      throw error;
    }
  }
}
