/*! What is said of suspended tables and stored views: each kind has its own statement that ends the suspension. */
import { planChanges } from '@sqlpipe/plan';
import { NameMap } from '@sqlpipe/sql';
import { recordingProxy } from '../support/recording-proxy.js';
import { runSqlapply } from '../support/replay.js';
import { serveHere } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const SCHEMA = [
  'CREATE TABLE t (ts TIMESTAMP, x INT) timestamp(ts) PARTITION BY DAY;',
  'CREATE MATERIALIZED VIEW m WITH BASE t AS (select ts, sum(x) n from t sample by 1h) PARTITION BY DAY;',
  'CREATE LIVE VIEW l FLUSH EVERY 5s PARTITION BY DAY START FROM NOW AS (select ts, count(*) over (partition by x order by ts rows 9 preceding) n from t);',
];

const RESUMED = [
  "ALTER TABLE 't' RESUME WAL",
  "ALTER MATERIALIZED VIEW 'm' RESUME WAL",
  "ALTER LIVE VIEW 'l' RESUME WAL",
];

test('a plan lists how a suspended table or stored view is resumed', async t => {
  const suspended = new NameMap(['t', 'm', 'l'].map(name => [name, 'no space left'] as const));
  const { omissions } = await planChanges(SCHEMA, SCHEMA, { health: { suspended } });
  t.deepEqual(omissions.map(({ what }) => what).sort(), [...RESUMED].sort());
});

for (const [i, change] of ['ALTER TABLE t ADD COLUMN y INT', 'ALTER MATERIALIZED VIEW m SET TTL 1 WEEK'].entries())
  test(`if the server cannot apply it, the message says what resumes the object: ${change}`, async t => {
    const server = await serveHere(t, {});
    for (const statement of SCHEMA.slice(0, 2)) t.is((await server.execute(statement)).error, undefined);
    let isChanged = false;
    const { url } = await recordingProxy(t, server, query => {
      if (query.startsWith(change)) {
        isChanged = true;
        return [200, { ddl: 'OK' }];
      }
      return isChanged && /^SELECT .*suspended FROM wal_tables/.test(query)
        ? [200, { columns: [], dataset: [[1, 2, true]] }]
        : undefined;
    });
    const { stderr } = await runSqlapply(t, url, { text: `${change};`, options: '--allow ALTER' });
    t.true(stderr.includes(`is suspended; use ${RESUMED[i]}\n`), stderr);
  });
