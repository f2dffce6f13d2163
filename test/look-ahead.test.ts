/*!
 * `sqlapply` fetches the definitions of the next statements together. A definition that a statement of the run has changed meanwhile
 * is not used: whichever of the replies comes first, and also if one is lost.
 */
import type { ExecutionContext } from 'ava';
import { startFaultyServer } from './faults/faulty-server.js';
import { forwardRequest } from './faults/run.js';
import { runSqlapply } from './support/replay.js';
import { fileScope } from './support/scope.js';
import type { Server } from './support/server.js';
import { startSqlserve } from './support/sqlserve.js';
import { test } from './support/test.js';

const scope = fileScope();
let good: Server;

test.before(async () => {
  good = await startSqlserve(scope);
});

/** Something that happens once. */
function event() {
  let happen = () => {};
  const happened = new Promise<void>(resolve => {
    happen = resolve;
  });
  return { happened, happen };
}

/** What a proxy does before it forwards a request, before it passes the reply on, and afterwards. */
interface Hooks {
  before?(statement: string): Promise<void> | void;
  reply?(statement: string): Promise<void> | 'lost' | void;
  after?(statement: string): void;
}

/** A proxy in front of an instance with these objects. */
async function startProxy(t: ExecutionContext, objects: readonly string[], { before, reply, after }: Hooks) {
  await good.dropAll();
  for (const statement of objects) t.is((await good.execute(statement)).error, undefined, statement);
  const { url } = await startFaultyServer(t, async (socket, request) => {
    await before?.(request.statement);
    const bytes = await forwardRequest(good, request);
    if ((await reply?.(request.statement)) === 'lost') return socket.destroy();
    return socket.write(bytes, () => after?.(request.statement));
  });
  return url;
}

const TABLES = ['CREATE TABLE a (x INT);', 'CREATE TABLE t (x INT, y INT);'];
const OLD = 'CREATE VIEW v AS (SELECT x FROM t);';

for (const change of ['CREATE OR REPLACE VIEW v AS (SELECT y FROM t);', 'ALTER TABLE t ADD COLUMN z INT;'])
  test(`a change whose reply is lost is looked for in a new definition: ${change}`, async t => {
    const isChange = (statement: string) => `${statement};` === change;
    const reply = (statement: string) => (isChange(statement) ? 'lost' : undefined);
    const url = await startProxy(t, [...TABLES, OLD], { reply });
    const text = [...TABLES, change].join('\n');
    const { code, results, stderr } = await runSqlapply(t, url, { text, options: '--allow REPLACE,ALTER' });
    t.deepEqual([code, results], [0, ['skipped', 'skipped', 'applied']], stderr);
  });

const REPLACE = 'CREATE OR REPLACE VIEW v AS (SELECT y FROM t);';
const SAME = 'CREATE VIEW IF NOT EXISTS v AS (SELECT y FROM t);';

for (const order of ['before', 'after'] as const)
  test(`a view that is replaced while its definition is fetched is fetched again: its reply comes ${order}`, async t => {
    const [asked, fetched, replaced] = [event(), event(), event()];
    const isFetch = (statement: string) => /^SHOW CREATE TABLE 'a' UNION ALL .*'v'/.test(statement);
    /** The last query of a look-ahead that found a table. */
    const isLast = (statement: string) => / lower\(table_name\) IN \('a'/.test(statement);
    const isReplace = (statement: string) => `${statement};` === REPLACE;
    const url = await startProxy(t, [...TABLES, OLD], {
      before: statement => (isReplace(statement) ? (order === 'before' ? fetched : asked).happened : undefined),
      reply(statement) {
        if (isFetch(statement)) asked.happen();
        return isFetch(statement) && order === 'after' ? replaced.happened : undefined;
      },
      after(statement) {
        if (isLast(statement)) fetched.happen();
        if (isReplace(statement)) replaced.happen();
      },
    });
    const text = [TABLES[0], REPLACE, SAME].join('\n');
    const { code, results, stderr } = await runSqlapply(t, url, { text, options: '--jobs 2 --allow REPLACE' });
    t.deepEqual([code, results], [0, ['skipped', 'applied', 'skipped']], stderr);
  });

/** As many statements as are looked ahead for together. */
const BATCH = 100;

test('a table that is altered while its definition is fetched is fetched again', async t => {
  const others = Array.from({ length: BATCH - 1 }, (_, i) => `CREATE TABLE t${i} (x INT);`);
  const [asked, altered] = [event(), event()];
  const isFetch = (statement: string) => statement === "SHOW CREATE TABLE 't'";
  const isAlter = (statement: string) => statement.startsWith('ALTER');
  let fetches = 0;
  const url = await startProxy(t, [...others, 'CREATE TABLE t (x INT);'], {
    before: statement => (isAlter(statement) ? asked.happened : undefined),
    reply(statement) {
      if (!isFetch(statement) || ++fetches > 1) return undefined;
      asked.happen();
      return altered.happened;
    },
    after: statement => (isAlter(statement) ? altered.happen() : undefined),
  });
  const text = [...others, 'ALTER TABLE t ADD COLUMN y INT;', 'CREATE TABLE t (x INT, y INT);'].join('\n');
  const options = '--jobs 2 --no-verify --allow ALTER';
  const { code, results, stderr } = await runSqlapply(t, url, { text, options });
  t.deepEqual([code, results.slice(BATCH - 1)], [0, ['applied', 'skipped']], stderr);
});
