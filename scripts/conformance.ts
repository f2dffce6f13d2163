/*!
 * The conformance run: every recorded object is created on a real server, copied to an empty server with the
 * built programs, read from both and compared; so are some large schemas. There is no list of expected failures.
 */
import { CORPUS } from '../test/support/corpus.js';
import { openScope } from '../test/support/scope.js';
import { startServer } from '../test/support/server.js';
import { copyAll, type WithServers } from './conformance/copy.js';
import { type Scenario, scenarios } from './conformance/corpus.js';
import { Database } from './conformance/database.js';
import { large } from './conformance/large.js';

const SETTINGS = {
  // Some tables are wider than a server accepts in one request by default.
  QDB_HTTP_REQUEST_HEADER_BUFFER_SIZE: '1m',
  // Unused files are closed at once: thousands of objects have more files than a process may have open.
  QDB_CAIRO_IDLE_CHECK_INTERVAL: '1000',
  QDB_CAIRO_INACTIVE_READER_TTL: '1000',
  QDB_CAIRO_INACTIVE_WRITER_TTL: '1000',
  QDB_CAIRO_WAL_INACTIVE_WRITER_TTL: '1000',
};

const withServers =
  (settings: NodeJS.ProcessEnv): WithServers =>
  async work => {
    const scope = openScope();
    const start = async () => {
      const env = { ...SETTINGS, ...settings };
      return new Database(
        (await startServer(scope, process.execPath, ['--import=tsx', 'scripts/questdb.ts'], env)).url,
      );
    };
    try {
      await work(...(await Promise.all([start(), start()])));
    } finally {
      await scope.end();
    }
  };

if (!CORPUS) console.error('conformance: no recordings; set CORPUS to their folder');
const recorded = CORPUS ? scenarios() : [];
const settingsOf = ({ settings }: Scenario) => JSON.stringify(settings);
/** Those that need the same settings of the server. */
const lots = [...new Set(recorded.map(settingsOf))].map(key => recorded.filter(each => settingsOf(each) === key));
const totals = { scenarios: 0, notTaken: 0, objects: 0, equal: 0, short: 0 };
for (const lot of [...large.map(scenario => [scenario]), ...lots]) {
  const { objects, equal, notTaken, short } = await copyAll(lot, withServers(lot[0]?.settings ?? {}));
  for (const line of notTaken) console.log(`rejected by the source: ${line}`);
  for (const line of short) console.log(`fell short: ${line}`);
  totals.scenarios += lot.length;
  totals.notTaken += notTaken.length;
  totals.objects += objects;
  totals.equal += equal;
  totals.short += short.length;
}
const { objects, equal, notTaken } = totals;
console.log(
  `${totals.scenarios} scenarios, ${notTaken} rejected by the source: ${objects} objects copied, ${equal} equal`,
);
process.exitCode = !CORPUS || totals.short || equal < objects ? 1 : 0;
