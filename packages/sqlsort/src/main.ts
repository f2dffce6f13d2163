import { pipeline } from 'node:stream/promises';
import { Exit, maxRecordOption, runProgram } from '@sqlpipe/cli';
import { createCommitWriter, decodeRecords, encodeRecords, MAX_RECORD } from '@sqlpipe/records';
import { toDot, toMermaid } from './graph.js';
import { readCatalog, sortStatements } from './sort.js';

runProgram({
  name: 'sqlsort',
  operands: '',
  summary: 'Puts a statement stream in the order of a dump, so that it replays; or draws it.',
  examples: [
    ['sqldump src | sort -z | sqlsort | cmp - <(sqldump src)', 'there and back'],
    ['sqlsplit tables.sql views.sql | sqlsort | sqlapply dst', 'files in any order'],
    ['sqldump src | sqlsort --graph dot | dot -Tsvg > schema.svg', 'a picture'],
  ],
  options: cli =>
    cli
      .option('graph', {
        choices: ['dot', 'mermaid'] as const,
        requiresArg: true,
        describe: 'write which object needs which instead, for Graphviz or Mermaid',
      })
      .option('max-record', maxRecordOption(MAX_RECORD)),
  run: async ({ graph, maxRecord }, io) => {
    const input = decodeRecords(io.stdin(), { maxRecord });
    if (graph) await io.print({ dot: toDot, mermaid: toMermaid }[graph](await readCatalog(input)));
    else await pipeline(sortStatements(input), encodeRecords(maxRecord), createCommitWriter(io.stdout, 'sqlsort'));
    return Exit.ok;
  },
});
