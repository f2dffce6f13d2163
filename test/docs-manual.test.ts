/*! The man pages: sound mdoc, complete, and of one mind with `--help`. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { freshFolder } from './support/folder.js';
import { manExamples, manPages, manSection, testWithMandoc } from './support/manual.js';
import { test } from './support/test.js';

/** Options as people type them, `-o` and `--output` each. */
type Options = Set<string>;

const options = (lines: Iterable<RegExpMatchArray>): Options =>
  new Set(Array.from(lines, ([line]) => line.match(/(?<![\w-])--?\w[\w-]*/g) ?? []).flat());

/** In the help an option begins its line, in a man page its paragraph. */
const inHelp = (help: string): Options => options(help.matchAll(/^ +(?:-\w, +)?--[\w-]+/gm));
const inManual = (description: string): Options => options(description.matchAll(/(?<=\n\n) {5}-.*$/gm));

test('every page that a manifest names is there', t => {
  t.deepEqual(
    manPages.filter(page => !existsSync(page)),
    [],
  );
});

testWithMandoc('mandoc has nothing to say against any page', async t => {
  // Side by side, as it looks whether the pages they refer to exist; others' may not be installed here.
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

for (const page of manPages)
  testWithMandoc(`${basename(page)} says what it depends on, and whom to trust`, t => {
    for (const heading of ['ENVIRONMENT', 'SECURITY CONSIDERATIONS']) t.not(manSection(page, heading), '', heading);
  });
