/*! The man pages: valid mdoc, complete, and consistent with `--help`. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { freshFolder } from '../support/folder.js';
import { inProcess } from '../support/in-process.js';
import { manExamples, manPages, manSection, testWithMandoc } from '../support/manual.js';
import { startSqlserve } from '../support/sqlserve.js';
import { test } from '../support/test.js';

/** Options as people type them, with `-o` and `--output` as two entries. */
type Options = Set<string>;

const options = (lines: Iterable<RegExpMatchArray>): Options =>
  new Set(Array.from(lines, ([line]) => line.match(/(?<![\w-])--?\w[\w-]*/g) ?? []).flat());

/** An option begins its line in the help, and its paragraph in a man page. */
const inHelp = (help: string): Options => options(help.matchAll(/^ +(?:-\w, +)?--[\w-]+/gm));
const inManual = (description: string): Options => options(description.matchAll(/(?<=\n\n) {5}-.*$/gm));

test('every page that a manifest names exists', t => {
  const wrong = manPages.filter(page => !existsSync(page));
  t.deepEqual(wrong, []);
});

testWithMandoc('mandoc -T lint reports nothing for any page', async t => {
  // In one folder, as mandoc checks that referenced pages exist; pages of other packages may not be installed.
  const folder = await freshFolder(t);
  for (const page of manPages) copyFileSync(page, join(folder, basename(page)));
  for (const page of ['dot.1', 'grep.1', 'sort.1']) writeFileSync(join(folder, page), '');
  const { status, stdout } = spawnSync('mandoc', ['-T', 'lint', ...manPages.map(page => basename(page))], {
    cwd: folder,
    encoding: 'utf8',
  });
  t.is(stdout, '');
  t.is(status, 0);
});

for (const page of manPages.filter(each => each.endsWith('.1'))) {
  const program = basename(page, '.1');

  testWithMandoc(`${program}: --help and man page have the same options`, t => {
    const { stdout } = spawnSync(`node_modules/.bin/${program}`, ['--help'], { encoding: 'utf8' });
    t.true(inHelp(stdout).size > 3);
    t.deepEqual([...inManual(manSection(page, 'DESCRIPTION'))].sort(), [...inHelp(stdout)].sort());
  });

  testWithMandoc(`${program}: the man page has an exit status and examples`, t => {
    t.regex(manSection(page, 'EXIT STATUS'), /^ {5}64 /m);
    t.not(manExamples(page).length, 0);
  });
}

testWithMandoc('sqlpipe copy: --help and man page have the same options', t => {
  const { stdout } = spawnSync('node_modules/.bin/sqlpipe', ['copy', '--help'], { encoding: 'utf8' });
  t.true(inHelp(stdout).size > 20);
  t.deepEqual([...inManual(manSection('packages/sqlpipe/sqlpipe.1', 'COPY'))].sort(), [...inHelp(stdout)].sort());
});

for (const page of manPages)
  testWithMandoc(`${basename(page)} has the sections ENVIRONMENT and SECURITY CONSIDERATIONS`, t => {
    for (const heading of ['ENVIRONMENT', 'SECURITY CONSIDERATIONS']) t.not(manSection(page, heading), '', heading);
  });

test('sqlapply.1 lists the members of the lines of a report, and no others', async t => {
  const server = await startSqlserve(t);
  await server.execute('CREATE TABLE a (x INT, y INT)');
  await server.execute('CREATE VIEW v AS (SELECT x FROM a)');
  const run = await inProcess(t, { URL: server.url });
  const report = async (options: string, sql: string) =>
    (await run(`sqlsplit <<< '${sql}' | sqlapply --allow REPLACE,ALTER --report - ${options} $URL`)).stdout;
  const changes = 'CREATE TABLE c (x INT); CREATE OR REPLACE VIEW v AS (SELECT y FROM a); ALTER TABLE a DROP COLUMN y;';
  const lines = [
    await report('--dry-run', changes),
    await report('', changes),
    await report('', 'CREATE VIEW w AS (no);'),
  ].join('');
  const [page] = /^\.It Fl -report[^]*?(?=^\.It )/m.exec(readFileSync('packages/sqlapply/sqlapply.1', 'utf8')) ?? [''];
  const find = (text: string, what: RegExp) => [...new Set(Array.from(text.matchAll(what), ([, name]) => name))].sort();
  t.deepEqual(find(lines, /"(\w+)":/g), find(page, /^\.Va (\w+)/gm));
  for (const effect of find(lines, /"effect":"(\w+)"/g)) t.regex(page, new RegExp(`^\\.Pq Cm .*\\b${effect}\\b`, 'm'));
});
