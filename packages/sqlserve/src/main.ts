/*! sqlserve: the service itself, for demos, tests and CI without a database. */
import { runProgram } from '@sqlpipe/cli';
import { serve } from './serve.js';

runProgram({
  name: 'sqlserve',
  operands: '',
  summary: 'Serve a schema over HTTP as QuestDB does, keeping structure and no rows.',
  examples: [
    ['sqlserve --port 0', 'print the URL of a new, empty service'],
    ['sqlserve --load schema.sql', 'try a schema where there is no database'],
    ['sqlserve --data ~/demo --edition enterprise', 'users and grants too, kept over restarts'],
  ],
  options: cli =>
    cli
      .option('edition', { choices: ['oss', 'enterprise'] as const, default: 'oss' as const, describe: 'what to be' })
      .option('port', { type: 'number', default: 9000, requiresArg: true, describe: 'port; 0 picks a free one' })
      .option('address', { type: 'string', default: '127.0.0.1', requiresArg: true, describe: 'address to listen on' })
      .option('allow-host', {
        type: 'string',
        array: true,
        default: [],
        requiresArg: true,
        describe: 'name that requests may be addressed to, besides localhost',
      })
      .option('data', { type: 'string', requiresArg: true, describe: 'folder that keeps the schema over restarts' })
      .option('load', { type: 'string', array: true, default: [], requiresArg: true, describe: 'file to run first' })
      .option('request-limit', {
        type: 'number',
        default: 64_448,
        requiresArg: true,
        describe: 'longest request, in bytes',
      }),
  run: (options, io) => serve(options, io),
});
