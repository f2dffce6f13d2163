import { createMain } from '@sqlpipe/cli';
import { OPTIONS } from './options.js';

export const main = createMain({
  name: 'sqlapply',
  operands: '<instance> [file..]',
  operandTypes: ['instances', 'files'],
  summary: 'Applies a stream, .sql files or folders to an instance, up to the first error.',
  examples: [
    ['sqldump http://localhost:9000 | sqlapply http://other:9000', 'copy a schema'],
    [
      'sqldump src | sqlapply --keep-going --rejects rest dst; sqlapply dst < rest',
      'apply what can be applied, then the rest',
    ],
  ],
  options: OPTIONS,
  run: async (options, io) => (await import('./apply.js')).apply(options, io),
});
