/*! The library: its examples, as a program of somebody else that is compiled and run; and what examples do not show. */
import { readdirSync, readFileSync } from 'node:fs';
import { compile, examplesIn, libraryFolder, runCompiled } from './support/library.js';
import { fileScope } from './support/scope.js';
import { test } from './support/test.js';

const file = fileScope();
const SOURCES = 'packages/api/src';

/** The docstrings of a source file, without their stars. */
const docstringsOf = (path: string) => readFileSync(path, 'utf8').replace(/^ \* ?/gm, '');

const examples = readdirSync(SOURCES).flatMap(name => examplesIn(docstringsOf(`${SOURCES}/${name}`), name));
/** A comment has no blanks at the ends of its lines, and the printed form of a statement has. */
const trimLines = (text: string) => text.replace(/[ ]+$/gm, '').trimEnd();
let folder: string;

test.before(async () => {
  folder = await libraryFolder(file);
  await compile(folder, Object.fromEntries(examples.map(({ code }, i) => [`example${i}`, code])));
});

for (const [i, { title, output }] of examples.entries())
  test(`${title} prints what it says`, async t => {
    t.not(output, '');
    t.is(trimLines(await runCompiled(folder, `example${i}`)), trimLines(output));
  });
