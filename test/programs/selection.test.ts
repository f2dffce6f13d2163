/*! `--include` and `--exclude`: categories of the server, and kinds as in sqlgrep. */
import { parseKinds, parseSelection } from '@sqlpipe/schema';
import { inProcess } from '../support/in-process.js';
import { loginAs } from '../support/principals.js';
import { fileScope } from '../support/scope.js';
import type { Server } from '../support/server.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

const scope = fileScope();
let cluster: Server;

test.before(async () => {
  cluster = await startSqlserve(scope, ['--edition', 'enterprise']);
  const run = await inProcess(scope, loginAs());
  const { code, stderr } = await run(`
    echo "CREATE TABLE a (x INT); CREATE VIEW v AS (SELECT x FROM a); CREATE USER ann; CREATE GROUP desk;
      ADD USER ann TO desk; GRANT SELECT ON a TO ann;" | sqlsplit | sqlapply -q ${cluster.url}`);
  if (code) throw new Error(stderr);
});

const listDumpedKinds = async (t: Parameters<typeof inProcess>[0], options: string, via = '') => {
  const run = await inProcess(t, loginAs());
  return (await run(`sqldump ${via} ${options} ${cluster.url} | sqlgrep -l | cut -f1 | sort -u | paste -sd' '`)).stdout
    .toString()
    .trim();
};

for (const [options, kinds] of [
  ['--include table,view', 'table view'],
  ['--include TABLES,View', 'table view'],
  ['--include grant', 'grant'],
  ['--exclude grant', 'group membership table user view'],
  ['--exclude schema,user', 'grant group membership'],
] as const)
  test(`sqldump ${options} dumps only ${kinds}`, async t => {
    t.is(await listDumpedKinds(t, options), kinds);
  });

test('the clause contains only categories, and only those that the kinds require', t => {
  t.is(parseSelection(['table', 'VIEWS', 'grant', 'membership']).clause, ' INCLUDE (TABLES, VIEWS, PERMISSIONS)');
  t.is(parseSelection([], ['grant']).clause, '');
  t.is(parseSelection([], ['grant', 'user']).clause, ' EXCLUDE (USERS)');
  t.deepEqual([...parseKinds(['Permissions,table'])], ['membership', 'assumption', 'grant', 'table']);
  t.throws(() => parseSelection(['other']), { message: 'a dump contains no statements of the kind other' });
});
