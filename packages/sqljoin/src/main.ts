import { command, Exit } from '@sqlpipe/cli';
import { replaceFile, writeText } from '@sqlpipe/files';
import { MAX_RECORD, spool, statements } from '@sqlpipe/records';

command({
  name: 'sqljoin',
  operands: '',
  summary: 'Turns a statement stream into .sql text, when the stream is whole.',
  examples: [
    ['sqldump http://localhost:9000 | sqljoin -o schema.sql', 'keep a schema in a file'],
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
      .option('max-record', {
        type: 'number',
        default: MAX_RECORD,
        requiresArg: true,
        describe: 'longest record in bytes',
      }),
  run: async ({ output, maxRecord }, io) => {
    const whole = await spool(statements(io.stdin(), { maxRecord }));
    if (output) await replaceFile(output, file => writeText(whole, file), io.interrupted);
    else await writeText(whole, io.stdout);
    return Exit.yes;
  },
});
