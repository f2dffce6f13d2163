import { pipeline } from 'node:stream/promises';
import { Exit, limitHeapGrowth, maxRecordOption, runProgram } from '@sqlpipe/cli';
import { createCommitWriter, encodeRecords, MAX_RECORD } from '@sqlpipe/records';
import { readStatements } from './read-statements.js';

runProgram({
  name: 'sqlsplit',
  operands: '[file..]',
  operandTypes: ['files'],
  summary:
    'Turns .sql text, or a folder that sqljoin -d wrote, into a statement stream: one NUL-terminated record per statement.',
  examples: [
    ['sqlsplit schema.sql | sqlapply http://localhost:9000', 'apply a file'],
    ['sqlsplit schema | sqldiff - http://localhost:9000', 'compare a folder with an instance'],
    ['sqlsplit schema.sql | grep -z "^CREATE TABLE \'fx_" | sqlapply dst', 'apply some tables'],
    ["sqldump src | tr '\\0' '\\n' | sqlsplit | cmp - <(sqldump src)", 'a round trip'],
  ],
  options: cli => cli.option('max-record', maxRecordOption(MAX_RECORD)),
  run: async ({ operands: files, maxRecord }, io) => {
    limitHeapGrowth();
    await pipeline(
      readStatements(files, io.stdin, maxRecord),
      encodeRecords(maxRecord),
      createCommitWriter(io.stdout, 'sqlsplit'),
    );
    return Exit.ok;
  },
});
