/*! Every way a source or a target can fail, in pipelines. `make faults` shows them as a table, target by target. */

import { cases, PLACES, type Servers, startServers, targetCases } from '../faults/table.js';
import { fileScope } from '../support/scope.js';
import { test } from '../support/test.js';

const scope = fileScope();
let servers: Servers;

test.before(async () => {
  servers = await startServers(scope);
});

// One place in the stream for each of a target's faults; `make faults` tries them all.
const elsewhere = targetCases(nth => [PLACES[nth % PLACES.length] ?? 0]);

// One after the other, because they share the target.
for (const { name, run } of [...cases, ...elsewhere])
  test(name, async t => {
    const { failedClaims, stderr } = await run(t, servers);
    t.deepEqual(failedClaims, [], stderr);
  });
