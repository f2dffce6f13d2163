import { pipeline } from 'node:stream/promises';
import { Exit, maxRecordOption, runProgram } from '@sqlpipe/cli';
import { createCommitWriter, decodeRecords, encodeRecords, MAX_RECORD } from '@sqlpipe/records';
import { toDot, toMermaid } from './graph.js';
import { readCatalog, sortStatements } from './sort.js';

runProgram({
  name: 'sqlsort',
  operands: '',
  summary: 'Sorts a statement stream in dependency order, in which it can be applied, or draws its dependencies.',
  examples: [
    ['sqldump src | sort -z | sqlsort | cmp - <(sqldump src)', 'a round trip'],
    ['sqlsplit tables.sql views.sql | sqlsort | sqlapply dst', 'apply files in any order'],
    ['sqldump src | sqlsort --graph dot | dot -Tsvg > schema.svg', 'draw the dependencies'],
  ],
  options: cli =>
    cli
      .option('graph', {
        choices: ['dot', 'mermaid'] as const,
        requiresArg: true,
        describe: 'write the dependency graph for Graphviz or Mermaid instead',
      })
      .option('max-record', maxRecordOption(MAX_RECORD)),
  run: async ({ graph, maxRecord }, io) => {
    const input = decodeRecords(io.stdin(), { maxRecord });
    if (graph) await io.print({ dot: toDot, mermaid: toMermaid }[graph](await readCatalog(input)));
    else await pipeline(sortStatements(input), encodeRecords(maxRecord), createCommitWriter(io.stdout, 'sqlsort'));
    return Exit.ok;
  },
});
