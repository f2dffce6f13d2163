import { createMain, SHARED_OPTIONS } from '@sqlpipe/cli';

export const main = createMain({
  name: 'sqljoin',
  operands: '',
  summary:
    'Turns a statement stream into .sql text, or into a folder with one file per object. Writes nothing if the stream is incomplete.',
  examples: [
    ['sqldump http://localhost:9000 | sqljoin -o schema.sql', 'save a schema in a file'],
    ['sqldump src | sqljoin -d schema', 'save it in a folder with one file per object, for git'],
    ['sqljoin < schema.stream | less', 'read a stream as text'],
    ['sqldump src | sqljoin | sqlsplit | cmp - <(sqldump src)', 'a round trip'],
  ],
  options: {
    output: { alias: 'o', type: 'string', requiresArg: true, describe: 'write to FILE, completely or not at all' },
    directory: {
      alias: 'd',
      type: 'string',
      requiresArg: true,
      placeholder: 'DIR',
      describe: 'write one file per object into this folder',
    },
    'max-record': SHARED_OPTIONS.maxRecord,
  },
  run: async (options, io) => (await import('./write-text.js')).writeText(options, io),
});
