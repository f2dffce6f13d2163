/*!
 * sqlserve compared with what QuestDB's own tests and documentation say of version 10, which cannot be run here: facts in
 * test/cases/questdb-10.txt. Where two versions of them differ, the newer one counts. The agreement is logged with examples of
 * differences (all with DIFFERENCES=1) and has to reach the aims.
 */
import { type RunningServer, startServer } from '@sqlpipe/server';
import { admin, executeAs } from '../support/principals.js';
import { readServerCases } from '../support/server-cases.js';
import { Tally } from '../support/tally.js';
import { test } from '../support/test.js';

const matches = (message: string | undefined, expected: string): boolean =>
  message !== undefined &&
  (expected.startsWith('…')
    ? message.includes(expected.replaceAll('…', ''))
    : expected.endsWith('…')
      ? message.startsWith(expected.slice(0, -1))
      : message === expected);

test('statements of QuestDB 10 have the verdicts, messages and positions of its own tests', async t => {
  const servers = new Map<string, RunningServer>();
  const start = async (edition: 'open-source' | 'enterprise') => {
    const server = await startServer({ edition, questdb: '10', address: '127.0.0.1', port: 0 });
    servers.set(edition, server);
    t.teardown(() => server.close());
  };
  await start('open-source');
  await start('enterprise');
  const tally = new Tally();
  const cases = readServerCases('questdb-10');
  for (const { source, setup, statement, message, position, text } of cases) {
    const { url = '' } = servers.get(source.startsWith('enterprise') ? 'enterprise' : 'open-source') ?? {};
    await executeAs({ url }, admin, 'drop all');
    const failed: string[] = [];
    for (const each of setup) {
      const { error } = await executeAs({ url }, admin, each);
      if (error !== undefined) failed.push(`${each}: ${error}`);
    }
    const reply = await executeAs({ url }, admin, statement);
    const got = reply.error === undefined ? 'ok' : `${reply.error} at ${reply.position}`;
    const wanted = position === undefined ? message : `${message} at ${position}`;
    const difference = `${statement}\n    expected ${wanted}\n    here     ${got}${failed.map(each => `\n    set-up   ${each}`).join('')}`;
    tally.note('verdicts', (reply.error === undefined) === (message === 'ok'), difference);
    if (message !== 'ok' && message !== '…') tally.note('messages', matches(reply.error, message), difference);
    if (position !== undefined) tally.note('positions', reply.position === position, difference);
    if (text !== undefined) tally.note('texts', reply.dataset?.[0]?.[0] === text, difference);
  }
  tally.log(t);
  t.true(cases.length >= 250);
  for (const [what, aim] of Object.entries({ verdicts: 0.97, messages: 1, positions: 1, texts: 1 }))
    t.true(tally.share(what) >= aim, what);
});
