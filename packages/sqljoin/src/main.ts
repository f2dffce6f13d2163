import { Exit, limitHeapGrowth, maxRecordOption, runProgram, UsageError } from '@sqlpipe/cli';
import { writeFolder, writeOutput, writeSqlText } from '@sqlpipe/files';
import { decodeRecords, MAX_RECORD, spool } from '@sqlpipe/records';

runProgram({
  name: 'sqljoin',
  operands: '',
  summary:
    'Turns a statement stream into .sql text, or into a folder with a file per object, when the stream is whole.',
  examples: [
    ['sqldump http://localhost:9000 | sqljoin -o schema.sql', 'keep a schema in a file'],
    ['sqldump src | sqljoin -d schema', 'keep it in a folder with a file per object, for git'],
    ['sqljoin < schema.stream | less', 'read a stream'],
    ['sqldump src | sqljoin | sqlsplit | cmp - <(sqldump src)', 'there and back'],
  ],
  options: cli =>
    cli
      .option('output', {
        alias: 'o',
        type: 'string',
        requiresArg: true,
        describe: 'write this file, whole or not at all',
      })
      .option('directory', {
        alias: 'd',
        type: 'string',
        requiresArg: true,
        describe: 'make this folder hold a file per object',
      })
      .option('max-record', maxRecordOption(MAX_RECORD)),
  run: async ({ output, directory, maxRecord }, io) => {
    limitHeapGrowth();
    if (output && directory) throw new UsageError('--output and --directory exclude each other');
    const whole = await spool(decodeRecords(io.stdin(), { maxRecord }));
    if (directory) await writeFolder(directory, whole, io.interrupted);
    else await writeOutput(output, io.stdout, out => writeSqlText(whole, out), io.interrupted);
    return Exit.ok;
  },
});
