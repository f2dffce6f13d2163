import { createMain, SHARED_OPTIONS } from '@sqlpipe/cli';

export const main = createMain({
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
  options: { 'max-record': SHARED_OPTIONS.maxRecord },
  run: async (options, io) => (await import('./write-stream.js')).writeStream(options, io),
});
