/*!
 * How AVA runs the tests. They are bundled once, here: to compile and to load hundreds of modules in the process of each test file
 * would take longer than most of the files.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { tsImport } from 'tsx/esm/api';

const { bundleTests } = await tsImport('./scripts/bundler.ts', import.meta.url);
await bundleTests();
const { DATA, openPool } = await import('./.cache/compiled/test/support/server-pool.js');
const hasJava = spawnSync('java', ['-version']).status === 0;

/** The seconds that a test file took in its last run; one that is new may take longest. */
const timeOf = path => {
  const file = `.cache/times/${basename(path)}`;
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 1000;
};

const SQLSERVE = ['--require=./test/support/end-with-stdin.cjs', 'packages/sqlserve/bin/sqlserve.js', '--port', '0'];

// biome-ignore lint/style/noDefaultExport: AVA reads this one
export default {
  files: ['test/**/*.test.ts'],
  extensions: { ts: 'commonjs' },
  require: ['./test/support/quick-hashes.cjs', './test/support/compiled.cjs'],
  workerThreads: false,
  // Short-lived garbage is most of what tests make.
  nodeArguments: ['--max-semi-space-size=64'],
  // Tests wait for servers and for time to pass, and leave a processor idle meanwhile.
  concurrency: availableParallelism() + 1,
  // Those that take longest begin first, so that none of them is alone at the end.
  sortTestFiles: (a, b) => timeOf(b) - timeOf(a) || (a < b ? -1 : 1),
  environmentVariables: {
    LC_ALL: 'C.UTF-8',
    // Node reads these certificates at every start, which takes longer than the rest of its start.
    NODE_EXTRA_CA_CERTS: '',
    EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS ?? '',
    QUESTDB_POOL: hasJava ? String(await openPool(['.cache/compiled/scripts/questdb.js'], { TMPDIR: DATA })) : '',
    SQLSERVE_POOL: String(await openPool(SQLSERVE, { NODE_EXTRA_CA_CERTS: '' })),
  },
  // Without any result. On a machine that does much else, one test may take minutes.
  timeout: '10m',
};
