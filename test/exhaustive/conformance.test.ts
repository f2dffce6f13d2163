/*! Copies between two real servers: unusual schemas of the project, and a sample of what `make conformance` copies. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { copyAll } from '../../scripts/conformance/copy.js';
import { scenarios } from '../../scripts/conformance/corpus.js';
import { Database } from '../../scripts/conformance/database.js';
import { cases } from '../cases/cases.js';
import { CORPUS } from '../support/corpus.js';
import { freshFolder } from '../support/folder.js';
import { inProcess } from '../support/in-process.js';
import { borrowQuestDB, testWithQuestDB } from '../support/questdb.js';
import { fileScope } from '../support/test.js';

const file = fileScope();
let servers: Promise<[Database, Database]> | undefined;

/** Empties the two servers of this file; starts them if necessary. */
async function emptyServers(): Promise<[Database, Database]> {
  const start = async () => new Database((await borrowQuestDB(file)).url);
  servers ??= Promise.all([start(), start()]);
  const both = await servers;
  for (const each of both) await each.dropAll();
  return both;
}

for (const { title, input, output } of cases('copies'))
  testWithQuestDB(`copy: ${title}`, async t => {
    const [source, target] = await emptyServers();
    const folder = await freshFolder(t);
    await writeFile(join(folder, 'input.sql'), input);
    const run = await inProcess(t, { SRC: source.url, DST: target.url, FOLDER: folder });
    t.like(await run('sqlsplit $FOLDER/input.sql | sqlapply $SRC'), { code: 0 });
    const dump = await run('sqldump $SRC | sqljoin');
    t.is(dump.stdout.trimEnd(), output.trimEnd(), dump.stderr);
    t.like(await run('set -o pipefail; sqldump $SRC | sqlapply $DST'), { code: 0 });
    await source.dropAll();
    t.like(await run('set -o pipefail; sqldump $DST | sqlapply $SRC'), { code: 0 });
    t.deepEqual((await run('sqldump $SRC | sqljoin')).stdout, dump.stdout, 'the same two generations later');
  });

if (CORPUS) {
  const sample = scenarios().filter(({ settings }, i) => i % 40 === 0 && !Object.keys(settings).length);
  testWithQuestDB(`copy: ${sample.length} recordings of a real server`, async t => {
    const { objects, equal, notTaken, short } = await copyAll(sample, async work => work(...(await emptyServers())));
    t.deepEqual(notTaken, []);
    t.deepEqual(short, []);
    t.is(equal, objects);
    t.true(objects >= sample.length / 2);
  });
} else console.error('No sample of recordings is copied: CORPUS is missing');
