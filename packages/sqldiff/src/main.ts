import { createMain } from '@sqlpipe/cli';
import { OPTIONS } from './options.js';

export const main = createMain({
  name: 'sqldiff',
  operands: '<A> <B>',
  operandTypes: ['instances', 'files'],
  summary:
    'Compares schemas A and B object by object. Each is an instance, a .sql file, a folder, a stream file, or -.',
  examples: [
    ['sqldiff schema.sql http://localhost:9000', 'compare a file with an instance'],
    ['sqldiff --alter schema/ dst > plan', 'make a plan that changes dst to match a folder'],
  ],
  options: OPTIONS,
  run: async (options, io) => (await import('./run-diff.js')).runDiff(options, io),
});
