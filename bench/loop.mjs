/*!
 * The floor of everything that asks an instance one thing after the other: each record of stdin is sent as a query over
 * one kept-alive connection, the next one when the reply is there. Nothing is looked at, nothing made sure.
 * Plain JavaScript, as a compiler's start would count.
 */
import { argv, stdin, stdout } from 'node:process';
import { text } from 'node:stream/consumers';
import { Client } from 'undici';

const client = new Client(argv[2]);
for (const query of (await text(stdin)).split('\0').slice(0, -1)) {
  const reply = await client.request({ method: 'GET', path: '/api/v1/sql/execute', query: { query } });
  stdout.write(await reply.body.text());
}
await client.close();
