import type { Readable } from 'node:stream';
import { Exit, type Io, limitHeapGrowth } from '@sqlpipe/cli';
import { parseSqlText, readStatementsAt, withoutLocations } from '@sqlpipe/files';
import { writeRecords } from '@sqlpipe/records';

export async function writeStream(
  { operands: files, maxRecord }: { operands: string[]; maxRecord: number },
  io: Io,
): Promise<number> {
  limitHeapGrowth();
  await writeRecords(readStatements(files, io.stdin, maxRecord), io.stdout, 'sqlsplit', maxRecord);
  return Exit.ok;
}

/** The statements of the files and folders in order. `-`, or no file at all, stands for standard input. */
async function* readStatements(files: string[], stdin: () => Readable, maxLength: number): AsyncGenerator<string[]> {
  for (const file of files.length ? files : ['-'])
    if (file === '-') yield* withoutLocations(parseSqlText(stdin(), 'standard input', maxLength));
    else yield* withoutLocations(readStatementsAt(file, maxLength, { isText: true }));
}
