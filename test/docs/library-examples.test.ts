/*! The examples of the library in docstrings and in the guide, as a program of somebody else that is compiled and run. */
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serve } from '@sqlpipe/api';
import { compile, examplesIn, libraryFolder, runCompiled, runTogether } from '../support/library.js';
import { fileScope, test } from '../support/test.js';

const file = fileScope();
const SOURCES = 'packages/api/src';

const docstringsOf = (path: string) => readFileSync(path, 'utf8').replace(/^ \* ?/gm, '');

const GUIDE = readFileSync('GUIDE.md', 'utf8');
const guideTest = examplesIn(GUIDE, 'GUIDE.md')[0]?.code ?? '';
const [, trading = ''] = /^cat > trading.sql .*?\n(.*?)^SQL$/ms.exec(GUIDE) ?? [];
const examples = readdirSync(SOURCES).flatMap(name => examplesIn(docstringsOf(`${SOURCES}/${name}`), name));

/** Dumps an instance without the environment, and with it. */
const environment = `
  import { dump } from 'sqlpipe';
  const url = process.argv[2] ?? '';
  for (const env of [undefined, process.env])
    try {
      for await (const _ of dump({ url, env }));
      console.log('dumped');
    } catch (error) {
      console.log((error as { code: string }).code);
    }`;

let folder: string;
let printed: string[];

test.before(async () => {
  folder = await libraryFolder(file);
  await writeFile(join(folder, 'trading.sql'), trading);
  const programs = Object.fromEntries(examples.map(({ code }, i) => [`example${i}`, code]));
  await compile(folder, { ...programs, guide: guideTest, environment });
  printed = await runTogether(
    folder,
    examples.map((_, i) => `example${i}`),
  );
});

for (const [i, { title, output }] of examples.entries())
  test(`${title} prints what it says`, t => {
    t.not(output, '');
    t.is(printed[i], output);
  });

test('the test in the guide passes', async t => t.regex(await runCompiled(folder, 'guide'), /\bpass 1$/m));

test('the environment is used only if it is given', async t => {
  const { url, close } = await serve({ edition: 'enterprise' });
  t.teardown(close);
  const env = { SQLPIPE_USER: 'admin', SQLPIPE_PASSWORD: 'quest', http_proxy: 'nonsense://' };
  t.is(await runCompiled(folder, 'environment', [url], { ...env, http_proxy: '' }), 'DENIED\ndumped\n');
  t.is(await runCompiled(folder, 'environment', [url], env), 'DENIED\nCONFIG\n');
});
