import { Exit, type Io, limitHeapGrowth, UsageError } from '@sqlpipe/cli';
import { writeFolder, writeOutputs, writeSqlText } from '@sqlpipe/files';
import { decodeRecords, spool } from '@sqlpipe/records';

export async function writeText(
  { output, directory, maxRecord }: { output?: string | undefined; directory?: string | undefined; maxRecord: number },
  io: Io,
): Promise<number> {
  limitHeapGrowth();
  if (output && directory) throw new UsageError('--output and --directory cannot be combined');
  const statements = await spool(decodeRecords(io.stdin(), { maxRecord }));
  try {
    if (directory) await writeFolder(directory, statements, io.catchSignals());
    else
      await writeOutputs([{ path: output, write: out => writeSqlText(statements, out) }], io.stdout, io.catchSignals);
  } finally {
    await statements.close();
  }
  return Exit.ok;
}
