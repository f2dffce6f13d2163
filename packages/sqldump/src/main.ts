import { createMain } from '@sqlpipe/cli';
import { OPTIONS } from './options.js';

export const main = createMain({
  name: 'sqldump',
  operands: '<instance> [name..]',
  operandTypes: ['instances'],
  summary: "Writes an instance's schema as a statement stream; on a terminal, as .sql text.",
  examples: [
    ['sqldump http://localhost:9000 | sqlapply http://other:9000', 'copy a schema'],
    ['sqldump -o schema.sql localhost:9000', 'save it as .sql text'],
    ["sqldump --with-deps localhost:9000 'fx_*' | sqlapply other:9000", 'copy some objects and what they need'],
  ],
  standaloneOption: 'list-instances', // it needs no instance
  options: OPTIONS,
  run: async (options, io) => (await import('./write-dump.js')).writeDump(options, io),
});
