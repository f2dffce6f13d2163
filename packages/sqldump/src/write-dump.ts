import type { Writable } from 'node:stream';
import { Exit, type Io, limitHeapGrowth, UsageError, withProgress, writeSettings } from '@sqlpipe/cli';
import { isStdout, isTextOutput, writeOutputs, writeSqlText } from '@sqlpipe/files';
import { dump, hasAddressSyntax, listInstances, resolveInstance } from '@sqlpipe/instance';
import { writeRecords } from '@sqlpipe/records';
import { parseSelection } from '@sqlpipe/schema';
import { printFailureMarker } from '@sqlpipe/sql';
import { escapeControls, formatCount, formatError } from '@sqlpipe/text';
import { type DumpArgs, toDumpOptions } from './options.js';

export async function writeDump(
  { operands: [instance = '', ...names], output, text, include, exclude, ...options }: DumpArgs,
  io: Io,
): Promise<number> {
  limitHeapGrowth();
  if (options.listInstances) {
    for (const { name, address } of await listInstances(io.env))
      await io.write(`${escapeControls(name)}\t${address}\n`);
    return Exit.ok;
  }
  // The operand is not shown, because it may contain a password.
  if (names.some(hasAddressSyntax))
    throw new UsageError(
      'an operand after the first is an address; one instance is dumped, and NAMEs select its objects',
    );
  const selection = parseSelection(include, exclude);
  const source = await resolveInstance(instance, { ...io, program: 'sqldump', options });
  if (options.showConfig) return writeSettings([source.settings], io);
  const statements = dump(source, { ...toDumpOptions(options, io), selection, names, withDeps: options.withDeps });
  const isShown = isStdout(output) && io.stdout.isTTY === true;
  const reported = isShown ? statements : reportProgress(statements, io);
  const isText = text || isTextOutput(output, io.stdout);
  const write = (out: Writable) =>
    isText
      ? (isShown ? writeSqlText : writeTextOrFailureMarker)(reported, out)
      : writeRecords(reported, out, 'sqldump', options.maxRecord);
  await writeOutputs([{ path: output, write }], io.stdout, io.catchSignals);
  return Exit.ok;
}

/** Writes text. If the dump fails, the text ends in a failure marker, so that sqlsplit rejects it. */
async function writeTextOrFailureMarker(statements: AsyncIterable<string[]>, out: Writable): Promise<void> {
  await writeSqlText(statements, out).catch(error => {
    if (!out.errored) out.write(printFailureMarker({ name: 'sqldump', reason: formatError(error) }));
    throw error;
  });
}

async function* reportProgress(batches: AsyncIterable<string[]>, io: Io): AsyncGenerator<string[]> {
  let count = 0;
  for await (const batch of withProgress(batches, io.progress())) {
    count += batch.length;
    yield batch;
  }
  io.summary(formatCount(count, 'statement'));
}
