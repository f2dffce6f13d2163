import { pipeline } from 'node:stream/promises';
import { command, Exit, recordLimit } from '@sqlpipe/cli';
import { MAX_RECORD, encodeRecords, createCommitWriter, decodeRecords } from '@sqlpipe/records';
import { dot, mermaid } from './graph.js';
import { schema, sort } from './sort.js';

command({
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
      .option('max-record', recordLimit(MAX_RECORD)),
  run: async ({ graph, maxRecord }, io) => {
    const input = decodeRecords(io.stdin(), { maxRecord });
    if (graph) await io.print({ dot, mermaid }[graph](await schema(input)));
    else await pipeline(sort(input), encodeRecords(maxRecord), createCommitWriter(io.stdout, 'sqlsort'));
    return Exit.yes;
  },
});
