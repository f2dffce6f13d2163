import { createMain } from '@sqlpipe/cli';
import { OPTIONS } from './copy-options.js';

export const main = createMain({
  name: 'sqlpipe copy',
  operands: '<source> <target>',
  operandTypes: ['instances'],
  summary: 'Copies the schema of an instance to another, as sqldump | sqlapply does.',
  examples: [
    ['sqlpipe copy http://localhost:9000 http://other:9000', 'copy a schema'],
    ['sqlpipe copy --alter --dry-run prod laptop', 'show the changes that laptop needs'],
  ],
  options: OPTIONS,
  run: async (options, io) => (await import('./copy-schema.js')).copySchema(options, io),
});
