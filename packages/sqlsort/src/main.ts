import { createMain, SHARED_OPTIONS } from '@sqlpipe/cli';

export const main = createMain({
  name: 'sqlsort',
  operands: '',
  summary: 'Sorts a statement stream in dependency order, in which it can be applied, or draws its dependencies.',
  examples: [
    ['sqldump src | sort -z | sqlsort | cmp - <(sqldump src)', 'a round trip'],
    ['sqlsplit tables.sql views.sql | sqlsort | sqlapply dst', 'apply files in any order'],
    ['sqldump src | sqlsort --graph dot | dot -Tsvg > schema.svg', 'draw the dependencies'],
  ],
  options: {
    graph: {
      choices: ['dot', 'mermaid'] as const,
      requiresArg: true,
      describe: 'write the dependency graph for Graphviz or Mermaid instead',
    },
    'max-record': SHARED_OPTIONS.maxRecord,
  },
  run: async (options, io) => (await import('./sort.js')).writeSortedSchema(options, io),
});
