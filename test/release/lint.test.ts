/*! What `make lint` rejects: one mistake of each kind, checked with the project's configuration; and the last line of `make test`. */
import { execFileSync, spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freshFolder } from '../support/folder.js';
import { shell } from '../support/shell.js';
import { macro, test } from '../support/test.js';

const rejects = macro<[rule: string, sources: Record<string, string>]>({
  title: (_, rule) => `make lint rejects: ${rule}`,
  async exec(t, rule, sources) {
    const run = await shell(t, { CONFIG: resolve('biome.jsonc') });
    await run('cp $CONFIG .');
    const lint = async (files: Record<string, string>) => {
      for (const [name, text] of Object.entries(files)) await run(`cat > ${name} <<'EOF'\n${text}\nEOF`);
      return run('biome ci --vcs-enabled=false --colors=off --reporter=github .');
    };
    t.like(await lint({ 'good.ts': 'export const one = (): number => 1;' }), { code: 0 });
    const { code, stdout } = await lint(sources);
    t.is(code, 1);
    const found = new Set(Array.from(stdout.matchAll(/title=([\w/]+)/g), ([, name]) => name));
    t.deepEqual([...found], [rule]);
  },
});

test(rejects, 'lint/correctness/noUnusedImports', { 'a.ts': "import { join } from 'node:path';" });
test(rejects, 'lint/correctness/noUnusedVariables', { 'a.ts': 'const one = 1;\n\nexport {};' });
test(rejects, 'lint/suspicious/noDoubleEquals', {
  'a.ts': 'export const same = (a: unknown, b: unknown): boolean => a == b;',
});
test(rejects, 'lint/suspicious/noDebugger', { 'a.ts': 'debugger;' });
test(rejects, 'lint/nursery/noFloatingPromises', {
  'a.ts': 'export async function work(): Promise<void> {\n  await Promise.resolve();\n}',
  'b.ts': "import { work } from './a.js';\n\nwork();",
});
test(rejects, 'lint/suspicious/noImportCycles', {
  'a.ts': "import { b } from './b.js';\n\nexport const a = (): number => b();",
  'b.ts': "import { a } from './a.js';\n\nexport const b = (): number => a();",
});
test(rejects, 'format', { 'a.ts': "export const a = [ 'x' ];" });

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
