/*! Every way a source or a target can fail, in pipelines. `make faults` shows them as a table, target by target. */
import { type SourceFault, sourceFaults } from '../faults/sources.js';
import { cases, PLACES, startServers, targetCases } from '../faults/table.js';
import { inProcess } from '../support/in-process.js';
import { recordingProxy } from '../support/recording-proxy.js';
import { fileScope, test } from '../support/test.js';

const servers = startServers(fileScope());

// One place in the stream for each of a target's faults; `make faults` tries them all.
const elsewhere = targetCases(nth => [PLACES[nth % PLACES.length] ?? 0]);

// One after the other, because they share the target.
for (const { name, run } of [...cases, ...elsewhere])
  test(name, async t => {
    const { failedClaims, stderr } = await run(t, await servers);
    t.deepEqual(failedClaims, [], stderr);
  });

test('sqlpipe copy from a source that fails: its status, its message only, and nothing is sent', async t => {
  const { target } = await servers;
  await target.dropAll();
  const { url, queries } = await recordingProxy(t, target);
  const run = await inProcess(t, { DST: url });
  const failed: string[] = [];
  const check = async ({ name, start, status, message, timeout = 30 }: SourceFault): Promise<void> => {
    const from = await start(t);
    const { code, stdout, stderr } = await run(
      `sqlpipe copy --timeout ${timeout} ${from.options ?? ''} '${from.url}' $DST`,
    );
    const claims = {
      [`the status is ${status}`]: code === status,
      [`the message matches ${message}`]: message.test(stderr),
      'the message names the source': stderr.includes(`sqlpipe copy: ${from.url}`) || [65, 78].includes(status),
      'it is the only message, and says that nothing was sent': /^sqlpipe copy: .*; nothing was sent\n$/.test(stderr),
      'nothing is printed': stdout.length === 0,
    };
    for (const [claim, holds] of Object.entries(claims))
      if (!holds) failed.push(`${name}: ${claim}: ${code} ${stderr}`);
  };
  const rest = sourceFaults.values();
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (const fault of rest) await check(fault);
    }),
  );
  t.deepEqual(failed, []);
  t.deepEqual(queries, []);
});
