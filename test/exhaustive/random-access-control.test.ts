/*! Random access control on sqlserve, with the built programs: applied twice, copied, changed in one right, and never narrowed. */
import { type Grant, parseRights, printRight, type Right } from '@sqlpipe/ddl';
import { RightSet } from '@sqlpipe/schema';
import { inProcess, type Run } from '../support/in-process.js';
import { admin, executeAs, loginAs, setUp } from '../support/principals.js';
import { fc, forAllAsync } from '../support/seed.js';
import type { Server } from '../support/server.js';
import { serveHere } from '../support/sqlserve.js';
import { fileScope, test } from '../support/test.js';

const scope = fileScope();
let servers: [Server, Server];
let run: Run;

const USERS = ['ann', 'bob', 'odd name'];
const GROUPS = ['desk', 'select'];
const ACCOUNTS = ['robot', 'feed'];
const TABLES = ['trades', 'fx quotes'];

const people = [
  ...USERS.map(name => `CREATE USER "${name}"`),
  ...GROUPS.map(name => `CREATE GROUP "${name}"`),
  ...ACCOUNTS.map(name => `CREATE SERVICE ACCOUNT "${name}"`),
];

test.before(async () => {
  const start = () => serveHere(scope, { edition: 'enterprise' });
  servers = [await start(), await start()];
  for (const server of servers)
    await setUp(server, ...TABLES.map(name => `CREATE TABLE "${name}" (ts TIMESTAMP, a INT, b INT) timestamp(ts)`));
  run = await inProcess(scope, { ...loginAs(), A: servers[0].url, B: servers[1].url });
});

async function dropPrincipals(): Promise<void> {
  for (const server of servers)
    for (const text of people) await executeAs(server, admin, text.replace(/CREATE (.*) "/, 'DROP $1 IF EXISTS "'));
}

const entity = fc.constantFrom(...USERS, ...GROUPS, ...ACCOUNTS);
const option = fc.boolean();
const membership = fc
  .tuple(fc.constantFrom(...USERS), fc.constantFrom(...GROUPS))
  .map(([user, group]): Right => ({ kind: 'membership', user, group }));
const assumption = fc
  .tuple(fc.constantFrom(...ACCOUNTS), fc.constantFrom(...USERS, ...GROUPS), option)
  .map(([account, to, may]): Right => ({ kind: 'assumption', account, entity: to, hasGrantOption: may }));
const grantOn = (scopes: readonly Pick<Grant, 'table' | 'column'>[]): fc.Arbitrary<Right> =>
  fc
    .tuple(
      fc.constantFrom('SELECT', 'INSERT', 'UPDATE', 'ALTER COLUMN TYPE'),
      fc.constantFrom(...scopes),
      entity,
      option,
    )
    .map(([permission, place, to, may]) => ({ kind: 'grant', permission, ...place, entity: to, hasGrantOption: may }));

const tables = TABLES.map(table => ({ table }));
const columns = tables.flatMap(place => ['ts', 'a', 'b'].map(column => ({ ...place, column })));
const rightOn = (scopes: readonly Pick<Grant, 'table' | 'column'>[]) =>
  fc.oneof(membership, assumption, { arbitrary: grantOn(scopes), weight: 4 });

/** A key that is equal for rights that overlap: all rights on one table share it. */
const overlapKey = (right: Right): string =>
  printRight(
    right.kind === 'membership'
      ? right
      : right.kind === 'grant'
        ? { ...right, column: undefined, hasGrantOption: false }
        : { ...right, hasGrantOption: false },
  );

const distinctRights = fc.uniqueArray(rightOn([...tables, ...columns]), {
  selector: overlapKey,
  minLength: 3,
  maxLength: 12,
});

const applyTo = (target: string, statements: readonly string[], options = '') =>
  run(
    `sqlsplit <<'END' | sqlapply ${options} -v "$${target}"\n${statements.map(text => text.replace(/;?$/, ';')).join('\n')}\nEND`,
  );

const diffServers = async (): Promise<string> => {
  const { stdout, stderr } = await run('sqldiff "$A" "$B"');
  if (stderr) throw new Error(stderr);
  return stdout.replaceAll(/only in http:\S+:/g, '').trim();
};

/** The rights of the first server, read without our programs except the parser. */
async function fetchRightsOfA(): Promise<RightSet> {
  const { dataset = [] } = await executeAs(servers[0], admin, 'SHOW CREATE DATABASE INCLUDE (PERMISSIONS)');
  return new RightSet(dataset.flatMap(([row]) => parseRights(String(row)) ?? []));
}

const printRevoke = (right: Right): string =>
  printRight(right.kind === 'membership' ? right : { ...right, hasGrantOption: false })
    .replace(/ TO (?=[^ ]+;|"[^"]+";)/, ' FROM ')
    .replace(/^GRANT/, 'REVOKE')
    .replace(/^ADD/, 'REMOVE')
    .slice(0, -1);

const RUNS = 5;

test('random rights: reruns and copies are equal; one changed right is the only difference', t =>
  forAllAsync(RUNS, distinctRights, fc.nat(), async (rights, nth) => {
    await dropPrincipals();
    const statements = [...people, ...rights.map(printRight)];
    const first = await applyTo('A', statements);
    t.is(first.code, 0, first.stderr);
    const again = await applyTo('A', statements);
    t.is(again.code, 0, again.stderr);
    t.regex(again.stderr, /: (\d+) statements: \1 skipped\n$/);
    await run.ok('set -o pipefail; sqldump "$A" | sqlapply "$B"');
    t.is(await diffServers(), '');

    const changed = rights[nth % rights.length] as Right;
    if (nth % 2 && changed.kind !== 'membership') {
      await setUp(servers[1], printRight({ ...changed, hasGrantOption: !changed.hasGrantOption }).slice(0, -1));
      t.is(await diffServers(), printRight({ ...changed, hasGrantOption: true }).slice(0, -1));
    } else {
      await setUp(servers[1], printRevoke(changed));
      t.is(await diffServers(), printRight(changed).slice(0, -1));
    }
  }));

/** Rights from a small set, so that most overlap. */
const anyRights = fc.array(
  rightOn([{}, { table: '*' }, ...tables, ...columns]).map(
    (right): Right => (right.kind === 'grant' ? { ...right, permission: 'SELECT', entity: 'ann' } : right),
  ),
  { minLength: 4, maxLength: 12 },
);

test('random grants: no run removes a right without reporting it', t =>
  forAllAsync(RUNS, anyRights, anyRights, async (before, then) => {
    await dropPrincipals();
    await setUp(servers[0], ...people, ...before.map(printRight).map(text => text.slice(0, -1)));
    const had = [...(await fetchRightsOfA())];
    const { code, stderr } = await applyTo('A', then.map(printRight), '--keep-going');
    const now = await fetchRightsOfA();
    t.deepEqual(had.filter(right => !now.includes(right)).map(printRight), []);
    const differing = stderr.match(/would remove/g)?.length ?? 0;
    t.is(code, differing > 0 ? 1 : 0, stderr);
    if (differing === 0) t.true(then.every(right => now.includes(right)));
  }));
