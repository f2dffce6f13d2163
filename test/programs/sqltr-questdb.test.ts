/*! sqltr with recorded databases, and with enterprise schemas of recorded tables: the output replays on a real open source QuestDB. */

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repair } from '@sqlpipe/ddl';
import { identify } from '@sqlpipe/sql';
import { databases } from '../support/databases.js';
import { freshFolder } from '../support/folder.js';
import { inProcess } from '../support/in-process.js';
import { parseJsonLines } from '../support/json-lines.js';
import { loginAs } from '../support/principals.js';
import { sharedQuestDB, testWithQuestDB } from '../support/questdb.js';
import { serveHere } from '../support/sqlserve.js';

const emptyServer = sharedQuestDB();

const toStream = (statements: readonly string[]): string => statements.map(statement => `${statement}\n\0`).join('');

/** The number of statements of each dump that are used; the beginning of a dump replays without the rest. */
const MAX_STATEMENTS = Number(process.env.MOST ?? 40);

const trading = {
  name: 'the trading schema',
  statements: execFileSync('node_modules/.bin/sqlsplit', ['scripts/trading.sql'], { encoding: 'utf8' })
    .split('\n\0')
    .filter(Boolean),
};

for (const { name, statements } of [trading, ...databases])
  testWithQuestDB(`${name}: the renamed dump replays and differs only in names`, async t => {
    const server = await emptyServer();
    const withRoom = statements.slice(0, MAX_STATEMENTS).filter(statement => identify(statement).name.length < 125);
    // The recordings are from a later version, so some are rejected: only accepted statements are renamed.
    for (const statement of withRoom) await server.execute(statement);
    const run = await inProcess(t, { DST: server.url });
    const { stdout } = await run("sqldump -q $DST > dump; tr -cd '\\0' < dump | wc -c");
    t.true(Number(stdout) > withRoom.length * 0.8, stdout.toString());
    await server.dropAll();
    const renamed = await run(
      "set -e -o pipefail; sqltr --rename '*=x_*' < dump > renamed; sqlapply -q $DST < renamed; sqldiff $DST renamed",
    );
    t.deepEqual([renamed.code, renamed.stderr, renamed.stdout.toString()], [0, '', '']);
    t.like(await run("set -o pipefail; sqldump -q $DST | sqltr --rename 'x_*=*' | sqlsort | cmp - dump"), { code: 0 });
  });

const TABLES = join(process.env.CORPUS ?? '../shared/corpus', 'tables.jsonl');

/** Every EACHth recorded table is used, since all of them take a minute. */
const EACH = Number(process.env.EACH ?? 15);

/** A clause without effect, which the enterprise server does not print. */
const WITHOUT_EFFECT = 'PARQUET(default)';

interface Recording {
  show_create?: string;
  replay_status?: number;
  roundtrip?: boolean;
  server_config?: unknown;
}

/** Tables as 9.3.4 prints them, with unique names. */
function recordedTables(): string[] {
  const recordings: Recording[] = parseJsonLines(readFileSync(TABLES, 'utf8'));
  return recordings
    .filter(({ roundtrip, replay_status, server_config }) => roundtrip && replay_status === 200 && !server_config)
    .filter(({ show_create }, i) => i % EACH === 0 && show_create?.startsWith('CREATE TABLE '))
    .filter(({ show_create }) => !show_create?.includes(WITHOUT_EFFECT))
    .map(({ show_create = '' }, i) =>
      repair(show_create.trim()).statement.replace(/^CREATE TABLE '[^']*'/, `CREATE TABLE 'table ${i}'`),
    );
}

const USERS = ['ann', 'bob', '"a b"'];

/** Adds a storage policy, a clause of the enterprise edition, to a table. */
const addPolicy = (table: string): string =>
  table.replace(
    /( PARTITION BY (?:HOUR|DAY))( BYPASS WAL)?;$/,
    '$1\nSTORAGE POLICY(TO PARQUET 3 DAYS, DROP LOCAL 1 MONTH)$2;',
  );

if (existsSync(TABLES))
  testWithQuestDB(
    'an enterprise schema with owners, storage policies and grants is translated to open source',
    async t => {
      const [server, enterprise] = [await emptyServer(), await serveHere(t, { edition: 'enterprise' })];
      const tables = recordedTables();
      const folder = await freshFolder(t);
      const owned = tables.map((table, i) =>
        (i % 2 ? addPolicy(table) : table).replace(/;$/, ` OWNED BY ${USERS[i % 3]};`),
      );
      const grants = tables.flatMap((_, i) =>
        i % 5 ? [] : [`GRANT SELECT ON 'table ${i}' TO ${USERS[(i + 1) % 3]};`],
      );
      const database = [...USERS.map(user => `CREATE USER ${user};`), ...owned, ...grants];
      await writeFile(join(folder, 'database'), toStream(database));
      await writeFile(join(folder, 'tables'), toStream(tables));
      const env = { ENT: enterprise.url, FOLDER: folder, ...loginAs() };
      const run = await inProcess(t, env);
      t.like(await run('sqlapply -q --no-verify $ENT < $FOLDER/database; sqldump $ENT > dump'), { code: 0 });
      const count = Number((await run("tr -cd '\\0' < dump | wc -c")).stdout);
      t.is(count, database.length);

      const strict = await run('sqltr --to open-source < dump > strict');
      t.is(strict.code, 1);
      t.regex(strict.stderr, /^sqltr: statement 1 \(user '.*'\): removed, .*, and so on for \d+ more; --lossy accepts/);
      t.is((await run('grep -zc CREATE strict')).stdout.toString(), '0\n');

      const lossy = await run('sqltr --to open-source --lossy < dump > open');
      t.is(lossy.code, 0);
      const notes = lossy.stderr.trimEnd().split('\n');
      t.is(new Set(notes.map(note => /statement \d+/.exec(note)?.[0])).size, notes.length, 'one note per statement');
      t.is(notes.length, count, 'each statement loses at least an owner');
      t.is(
        notes.filter(note => note.includes('TO PARQUET')).length,
        owned.filter(text => text.includes('POLICY')).length,
      );

      const bare = await inProcess(t, { DST: server.url, FOLDER: folder });
      await writeFile(join(folder, 'open'), (await run('cat open')).stdout);
      t.like(await bare('sqlapply -q $DST < $FOLDER/open && sqldiff $DST $FOLDER/open'), { code: 0, stderr: '' });
      const without = (name: string) => `grep -zv 'TTL 1 MONTH' $FOLDER/${name} | grep -z "^CREATE TABLE" | sort -z`;
      // Tables without an added policy are unchanged, including a TTL that was a policy in between.
      const lost = await bare.bash(`comm -z -23 <(${without('open')}) <(${without('tables')}) | tr '\\0' '\\n'`);
      t.is(lost.stdout.toString(), '');
      t.like(await bare("grep -zc 'TTL' $FOLDER/open"), { code: 0 });
    },
  );
else console.error(`Enterprise schemas are left out: ${TABLES} is missing`);
