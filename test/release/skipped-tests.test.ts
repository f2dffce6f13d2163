/*! The last line of `make test` if tests were skipped. */

import { execFileSync, spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder } from '../support/folder.js';
import { test } from '../support/test.js';

const TOOLS = ['dot', 'dpkg-deb', 'fish', 'java', 'jq', 'mandoc', 'mvn', 'parallel', 'rsync', 'strace', 'zsh'];

test('make test ends with the skipped tests and the command that installs their tools', async t => {
  const folder = await freshFolder(t);
  const runScript = () =>
    execFileSync(process.execPath, ['--import=tsx', 'scripts/skipped.ts'], {
      encoding: 'utf8',
      env: { ...process.env, PATH: folder },
    });
  for (const tool of TOOLS.filter(each => each !== 'mandoc' && each !== 'mvn'))
    symlinkSync('/bin/true', join(folder, tool));
  t.is(
    runScript(),
    'skipped: tests of the man pages (no mandoc), a real QuestDB (no mvn); to run them: sudo apt-get install mandoc maven\n',
  );
  for (const tool of ['mandoc', 'mvn']) symlinkSync('/bin/true', join(folder, tool));
  t.is(runScript(), '');
  const { stdout } = spawnSync('make', ['-n', '--no-print-directory', 'test'], { encoding: 'utf8' });
  t.regex(stdout, /ava '[^']+'; status=\$\?; tsx scripts\/skipped\.ts; exit \$status\n$/);
});
