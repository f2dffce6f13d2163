import { pipeline } from 'node:stream/promises';
import { command, EXCLUDE, Exit, INCLUDE, instanceOptions, recordLimit, stayLean } from '@sqlpipe/cli';
import { withoutOwner } from '@sqlpipe/ddl';
import { replaceFile, writeText } from '@sqlpipe/files';
import { dump, resolveInstance } from '@sqlpipe/instance';
import { MAX_RECORD, records, sink } from '@sqlpipe/records';
import { CATEGORIES, selection } from '@sqlpipe/schema';
import { printInstances } from './instances.js';
import { told } from './told.js';

command({
  name: 'sqldump',
  operands: '<instance>',
  takes: ['instances'],
  summary: "Writes an instance's schema as a statement stream; on a terminal, as .sql text.",
  examples: [
    ['sqldump http://localhost:9000 | sqlapply http://other:9000', 'copy a schema'],
    ["sqldump localhost:9000 | tr '\\0' '\\n' > schema.sql", 'keep it as .sql text'],
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
        describe: 'write this file, whole or not at all',
      })
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
  run: async ({ operands: [instance = ''], output, maxRecord, include, exclude, ...options }, io) => {
    stayLean();
    if (options.listInstances) return printInstances(io);
    const asked = selection(include, exclude);
    const { env, warn, ask } = io;
    const target = await resolveInstance(instance, { program: 'sqldump', env, options, warn, ask });
    const dumped = dump(target, { ...options, maxRecord, selection: asked, warn });
    const wanted = options.noOwner ? withoutOwners(dumped) : dumped;
    const statements = told(wanted, io);
    if (output)
      await replaceFile(
        output,
        file => pipeline(statements, records(maxRecord), sink(file, 'sqldump')),
        io.interrupted,
      );
    else if (io.stdout.isTTY) await writeText(wanted, io.stdout);
    else await pipeline(statements, records(maxRecord), sink(io.stdout, 'sqldump'));
    return Exit.yes;
  },
});

async function* withoutOwners(batches: AsyncIterable<string[]>): AsyncGenerator<string[]> {
  for await (const batch of batches) yield batch.map(withoutOwner);
}
