import { createMain, NUMBER, SEVERAL, VALUE } from '@sqlpipe/cli';
import { EDITIONS, EMULATED_VERSIONS } from '@sqlpipe/server';
import { DEFAULT_REQUEST_BUFFER } from '@sqlpipe/sql';

export const main = createMain({
  name: 'sqlserve',
  operands: '',
  summary: 'A QuestDB-compatible test server. It stores schema only, no rows.',
  examples: [
    ['sqlserve --port 0', 'start an empty server and print its URL'],
    ['sqlserve --load schema.sql', 'try a schema without a database'],
    ['sqlserve --data ~/demo --edition enterprise', 'store users and grants too, across restarts'],
  ],
  options: {
    edition: {
      choices: EDITIONS,
      default: 'oss' as const,
      describe: 'edition of QuestDB to emulate',
    },
    questdb: {
      ...VALUE,
      choices: EMULATED_VERSIONS,
      default: '10' as const,
      describe: 'version of QuestDB to emulate',
    },
    port: { ...NUMBER, default: 9000, placeholder: 'PORT', describe: 'port to listen on; 0 selects a free one' },
    address: { ...VALUE, default: '127.0.0.1', placeholder: 'ADDRESS', describe: 'address to listen on' },
    'allow-host': { ...SEVERAL, placeholder: 'HOST', describe: 'host name to accept requests for, besides localhost' },
    data: { ...VALUE, placeholder: 'DIR', describe: 'folder that stores the schema across restarts' },
    load: { ...SEVERAL, describe: 'file or folder to apply at start-up' },
    'request-limit': {
      ...NUMBER,
      default: DEFAULT_REQUEST_BUFFER,
      placeholder: 'BYTES',
      describe: 'maximum length of a request',
    },
  },
  run: async (options, io) => (await import('./serve.js')).serve(options, io),
});
