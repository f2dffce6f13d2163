import { createMain, SHARED_OPTIONS } from '@sqlpipe/cli';
import { REPLAY_OPTIONS } from '@sqlpipe/sqlapply/options';
import { SELECTION_OPTIONS } from '@sqlpipe/sqldump/options';

export const main = createMain({
  name: 'sqlpipe copy',
  operands: '<source> <target>',
  operandTypes: ['instances'],
  summary: 'Copies the schema of an instance to another, as sqldump | sqlapply does.',
  examples: [
    ['sqlpipe copy http://localhost:9000 http://other:9000', 'copy a schema'],
    ['sqlpipe copy --alter --dry-run prod laptop', 'show the changes that laptop needs'],
  ],
  // All of sqldump and sqlapply, except those for files and for a single instance.
  options: { ...SHARED_OPTIONS.connection, ...SELECTION_OPTIONS, ...REPLAY_OPTIONS },
  run: async (options, io) => (await import('./copy-schema.js')).copySchema(options, io),
});
