/*! The demo, which newcomers see first: it works, and it cleans up. */
import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { freshFolder } from '../support/folder.js';
import { testWithQuestDB } from '../support/questdb.js';
import { shell } from '../support/shell.js';
import { test } from '../support/test.js';

const DEMO = resolve('scripts/demo');

// `make ci` runs it with two sqlserve.
testWithQuestDB('scripts/demo --real copies the trading schema between two QuestDB servers, and cleans up', async t => {
  const TMPDIR = await freshFolder(t);
  const run = await shell(t, { TMPDIR });
  const { code, stdout, stderr } = await run(`${DEMO} --real`);
  const text = stdout;
  t.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  t.regex(
    text,
    /\$ sqldump \$SRC \| sqlapply -v \$DST 2>&1 \| tail -n 1\n +sqlapply: \S+: 31 statements: 31 applied\n/,
  );
  t.regex(
    text,
    /\$ sqldump \$SRC \| sqlapply -v \$DST 2>&1 \| tail -n 1\n +sqlapply: \S+: 31 statements: 31 skipped\n/,
  );
  t.regex(
    text,
    /sqlapply: cities\.sql:2: view 'cities': Invalid column: town\n[^]*\^\n.*: 0 of 1 applied, 1 rejected\n.*\n +exit status 1\n/,
  );
  t.regex(
    text,
    /differs: table 'venues'\n +column 'country': none in \S+, SYMBOL in \S+\n.*1 of 31 objects differs\n +exit status 1\n$/,
  );
  t.regex(text, /^ +5 CREATE MATERIALIZED VIEW\n +16 CREATE TABLE\n +10 CREATE VIEW$/m);
  t.regex(text, /^ +(\w{64}) {2}dst\.stream\n +\1 {2}src\.stream$/m);
  const left = (await readdir(TMPDIR)).filter(name => !name.startsWith('tsx-'));
  t.deepEqual(left, []);
  for (const [url] of text.matchAll(/http:\/\/[\d.:]+/g)) await t.throwsAsync(fetch(url), undefined, url);
});

test('scripts/demo rejects an unknown option as a usage error', async t => {
  const run = await shell(t);
  t.like(await run(`${DEMO} --fake`), { code: 64, stderr: 'usage: scripts/demo [--real]\n' });
});
