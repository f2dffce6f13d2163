/*! sqlserve: the service itself, for demos, tests and CI without a database. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { command, Exit, UsageError } from '@sqlpipe/cli';
import { Catalogue } from './catalogue.js';
import { endpoint } from './http.js';
import { routes } from './routes.js';
import { Service } from './service.js';

await command({
  name: 'sqlserve',
  operands: '',
  summary: 'Serve a schema over HTTP as QuestDB does, keeping structure and no rows',
  examples: [['sqlserve --port 0', 'print the URL of a new, empty service']],
  options: cli =>
    cli
      .option('port', { type: 'number', default: 9000, describe: 'port to listen on; 0 picks a free one' })
      .option('address', { type: 'string', default: '127.0.0.1', describe: 'address to listen on' })
      .option('request-limit', {
        type: 'number',
        default: 64_448,
        describe: 'size of a request that is still answered, in bytes',
      }),
  async run({ port, address, requestLimit }, { env, interrupted, print }) {
    const { QDB_HTTP_USER: user, QDB_HTTP_PASSWORD: password } = env;
    if (!user !== !password) throw new UsageError('QDB_HTTP_USER and QDB_HTTP_PASSWORD go together');
    const credentials = user && password ? { user, password } : undefined;
    const naming = env.QDB_CAIRO_SQL_COLUMN_ALIAS_EXPRESSION_ENABLED === 'false' ? 'by function' : 'by expression';
    const service = new Service(new Catalogue(naming));
    const server = endpoint({ answer: routes(service, credentials), requestLimit });
    await once(server.listen(port, address), 'listening');
    await print(`http://${address}:${(server.address() as AddressInfo).port}\n`);
    await once(interrupted, 'abort');
    server.close();
    return Exit.yes;
  },
});
