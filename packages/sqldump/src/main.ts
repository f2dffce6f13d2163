import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { command, EXCLUDE, Exit, INCLUDE, instanceOptions, printSettings, recordLimit, stayLean } from '@sqlpipe/cli';
import { withoutOwner } from '@sqlpipe/ddl';
import { isStdout, writeOutput, writeText } from '@sqlpipe/files';
import { dump, resolveInstance } from '@sqlpipe/instance';
import { MAX_RECORD, records, sink } from '@sqlpipe/records';
import { CATEGORIES, selection } from '@sqlpipe/schema';
import { formatFailureMarker, plainly } from '@sqlpipe/sql';
import { printInstances } from './instances.js';
import { told } from './told.js';

command({
  name: 'sqldump',
  operands: '<instance>',
  takes: ['instances'],
  summary: "Writes an instance's schema as a statement stream; on a terminal, as .sql text.",
  examples: [
    ['sqldump http://localhost:9000 | sqlapply http://other:9000', 'copy a schema'],
    ['sqldump -o schema.sql localhost:9000', 'keep it as .sql text'],
    ['sqldump localhost:9000 | grep -z "^CREATE TABLE \'fx_" | sqlapply other:9000', 'copy some of it'],
  ],
  instead: 'list-instances',
  values: { include: CATEGORIES, exclude: CATEGORIES },
  options: cli =>
    instanceOptions(cli)
      .option('output', {
        alias: 'o',
        type: 'string',
        requiresArg: true,
        describe: 'write this file, completely or not at all; NAME.sql is text',
      })
      .option('text', { type: 'boolean', default: false, describe: 'write .sql text, not a stream' })
      .option('include', INCLUDE)
      .option('exclude', EXCLUDE)
      .option('via', {
        choices: ['auto', 'database', 'catalogue'] as const,
        default: 'auto' as const,
        describe: 'SHOW CREATE DATABASE, or object by object',
      })
      .option('verbatim', { type: 'boolean', default: false, describe: 'mend nothing the server prints wrongly' })
      .option('no-owner', { type: 'boolean', default: false, describe: 'leave out OWNED BY' })
      .option('skip-invalid', { type: 'boolean', default: false, describe: 'leave out views the source calls invalid' })
      .option('max-record', recordLimit(MAX_RECORD))
      .option('list-instances', { type: 'boolean', default: false, describe: 'print the names in instances.toml' }),
  run: async ({ operands: [instance = ''], output, text, maxRecord, include, exclude, ...options }, io) => {
    stayLean();
    if (options.listInstances) return printInstances(io);
    const asked = selection(include, exclude);
    const { env, warn, ask, logRequest } = io;
    const target = await resolveInstance(instance, { program: 'sqldump', env, options, warn, ask, logRequest });
    if (options.showConfig) return printSettings([target.settings], io);
    const dumped = dump(target, { ...options, maxRecord, selection: asked, warn });
    const wanted = options.noOwner ? withoutOwners(dumped) : dumped;
    const isShown = isStdout(output) && io.stdout.isTTY === true;
    const statements = isShown ? wanted : told(wanted, io);
    const isText = text || isShown || output?.endsWith('.sql');
    const write = (out: Writable) =>
      isText ? writeMarkedText(statements, out) : pipeline(statements, records(maxRecord), sink(out, 'sqldump'));
    await writeOutput(output, io.stdout, write, io.interrupted);
    return Exit.yes;
  },
});

/** Writes text. Where the dump fails a note says so at its end: sqlsplit rejects such a text, as others reject such a stream. */
async function writeMarkedText(statements: AsyncIterable<string[]>, out: Writable): Promise<void> {
  try {
    await writeText(statements, out);
  } catch (error) {
    if (!out.errored) out.write(formatFailureMarker({ name: 'sqldump', reason: plainly(error) }));
    throw error;
  }
}

async function* withoutOwners(batches: AsyncIterable<string[]>): AsyncGenerator<string[]> {
  for await (const batch of batches) yield batch.map(withoutOwner);
}
