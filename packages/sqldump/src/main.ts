import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  addInstanceOptions,
  EXCLUDE_OPTION,
  Exit,
  INCLUDE_OPTION,
  limitHeapGrowth,
  maxRecordOption,
  printSettings,
  runProgram,
} from '@sqlpipe/cli';
import { removeOwner } from '@sqlpipe/ddl';
import { isStdout, writeOutput, writeSqlText } from '@sqlpipe/files';
import { dump, resolveInstance } from '@sqlpipe/instance';
import { createCommitWriter, encodeRecords, MAX_RECORD } from '@sqlpipe/records';
import { CATEGORIES, parseSelection } from '@sqlpipe/schema';
import { formatError, formatFailureMarker } from '@sqlpipe/sql';
import { printInstances } from './instances.js';
import { reportProgress } from './report-progress.js';

runProgram({
  name: 'sqldump',
  operands: '<instance>',
  operandTypes: ['instances'],
  summary: "Writes an instance's schema as a statement stream; on a terminal, as .sql text.",
  examples: [
    ['sqldump http://localhost:9000 | sqlapply http://other:9000', 'copy a schema'],
    ['sqldump -o schema.sql localhost:9000', 'save it as .sql text'],
    ['sqldump localhost:9000 | grep -z "^CREATE TABLE \'fx_" | sqlapply other:9000', 'copy some tables'],
  ],
  standaloneOption: 'list-instances', // it needs no instance
  values: { include: CATEGORIES, exclude: CATEGORIES },
  options: cli =>
    addInstanceOptions(cli)
      .option('output', {
        alias: 'o',
        type: 'string',
        requiresArg: true,
        describe: 'write to FILE, completely or not at all; NAME.sql gets text',
      })
      .option('text', { type: 'boolean', default: false, describe: 'write .sql text instead of a stream' })
      .option('include', INCLUDE_OPTION)
      .option('exclude', EXCLUDE_OPTION)
      .option('via', {
        choices: ['auto', 'database', 'catalogue'] as const,
        default: 'auto' as const,
        describe: 'use SHOW CREATE DATABASE, or query object by object',
      })
      .option('verbatim', {
        type: 'boolean',
        default: false,
        describe: 'do not repair statements that the server prints wrongly',
      })
      .option('no-owner', { type: 'boolean', default: false, describe: 'remove OWNED BY clauses' })
      .option('skip-invalid', { type: 'boolean', default: false, describe: 'leave out invalid views' })
      .option('max-record', maxRecordOption(MAX_RECORD))
      .option('list-instances', { type: 'boolean', default: false, describe: 'print the names in instances.toml' }),
  run: async ({ operands: [instance = ''], output, text, maxRecord, include, exclude, ...options }, io) => {
    limitHeapGrowth();
    if (options.listInstances) return printInstances(io);
    const selection = parseSelection(include, exclude);
    const { env, warn, promptSecret, logRequest } = io;
    const source = await resolveInstance(instance, {
      program: 'sqldump',
      env,
      options,
      warn,
      promptSecret,
      logRequest,
    });
    if (options.showConfig) return printSettings([source.settings], io);
    const dumped = dump(source, { ...options, maxRecord, selection, warn });
    const statements = options.noOwner ? removeOwners(dumped) : dumped;
    const isShown = isStdout(output) && io.stdout.isTTY === true;
    const watched = isShown ? statements : reportProgress(statements, io);
    const isText = text || isShown || output?.endsWith('.sql');
    const write = (out: Writable) =>
      isText
        ? (isShown ? writeSqlText : writeTextOrFailureMarker)(watched, out)
        : pipeline(watched, encodeRecords(maxRecord), createCommitWriter(out, 'sqldump'));
    await writeOutput(output, io.stdout, write, io.interrupted);
    return Exit.ok;
  },
});

/** Writes text. If the dump fails, the text ends in a failure marker, so that sqlsplit rejects it. */
async function writeTextOrFailureMarker(statements: AsyncIterable<string[]>, out: Writable): Promise<void> {
  try {
    await writeSqlText(statements, out);
  } catch (error) {
    if (!out.errored) out.write(formatFailureMarker({ name: 'sqldump', reason: formatError(error) }));
    throw error;
  }
}

async function* removeOwners(batches: AsyncIterable<string[]>): AsyncGenerator<string[]> {
  for await (const batch of batches) yield batch.map(removeOwner);
}
