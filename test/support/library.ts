/*! Programs of others that import the library, as they are written in docstrings and documents: compiled, and run. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { printSqlText, writeFolder } from '@sqlpipe/files';
import { freshFolder } from './folder.js';
import type { Scope } from './scope.js';

export interface Example {
  title: string;
  code: string;
  output: string;
}

const SCHEMA = [
  'CREATE TABLE trades (ts TIMESTAMP, pair SYMBOL, qty INT) TIMESTAMP(ts) PARTITION BY DAY;',
  'CREATE TABLE quotes (ts TIMESTAMP, bid DOUBLE, ask DOUBLE) TIMESTAMP(ts);',
  'CREATE VIEW spreads AS (SELECT ts, ask - bid AS spread FROM quotes);',
];

/** The TypeScript blocks of a text. What they print is in the comments at their end; `\\t` is a tab. */
export function examplesIn(text: string, title: string): Example[] {
  const blocks = Array.from(text.matchAll(/^```ts\n(.*?)^```$/gms), ([, block = '']) => block);
  return blocks
    .filter(code => code.includes("from 'sqlpipe'"))
    .map((code, i) => {
      const [comments = ''] = /(?:^\/\/.*\n)*$/m.exec(code.slice(lastCodeLine(code))) ?? [];
      return {
        title: `${title}, example ${i + 1}`,
        code,
        output: trimLines(comments.replace(/^\/\/ ?/gm, '').replaceAll('\\t', '\t')),
      };
    });
}

/** Where the comments at the end begin. */
function lastCodeLine(code: string): number {
  const lines = code.split('\n').slice(0, -1);
  const last = lines.findLastIndex(line => !line.startsWith('//'));
  return lines.slice(0, last + 1).join('\n').length + 1;
}

/** A folder in which programs can import the library by its name: with a file `schema.sql`, and its statements in the folder `schema`. */
export async function libraryFolder(scope: Scope): Promise<string> {
  const folder = await freshFolder(scope);
  await mkdir(join(folder, 'node_modules'));
  await symlink(resolve('packages/api'), join(folder, 'node_modules/sqlpipe'));
  await symlink(resolve('node_modules/@types'), join(folder, 'node_modules/@types'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'schema.sql'), SCHEMA.map(printSqlText).join(''));
  await writeFolder(join(folder, 'schema'), Readable.from(SCHEMA));
  return folder;
}

export async function compile(folder: string, programs: Readonly<Record<string, string>>): Promise<void> {
  const files = Object.keys(programs).map(name => `${name}.ts`);
  for (const [name, code] of Object.entries(programs)) await writeFile(join(folder, `${name}.ts`), code);
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
  try {
    execFileSync(resolve('node_modules/.bin/tsc'), [...options, ...files], { cwd: folder, encoding: 'utf8' });
  } catch (error) {
    throw new Error((error as { stdout: string }).stdout);
  }
}

/** What a compiled program prints, and nothing on standard error. */
export async function runCompiled(
  folder: string,
  name: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [`${name}.js`, ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    timeout: 300_000,
  });
  if (stderr) throw new Error(stderr);
  return stdout;
}

/** What each of some compiled programs prints, all of them run in one process: it needs to load the library once. */
export async function runTogether(folder: string, names: readonly string[]): Promise<string[]> {
  const program = names.map(name => `await import('./${name}.js');\nconsole.log('${SEPARATOR}');\n`).join('');
  await writeFile(join(folder, 'together.js'), program);
  return (await runCompiled(folder, 'together')).split(`${SEPARATOR}\n`).slice(0, -1).map(trimLines);
}

const SEPARATOR = '-'.repeat(40);

/** A comment has no blanks at the ends of its lines, and the printed form of a statement has. */
const trimLines = (text: string): string => text.replace(/ +$/gm, '').trimEnd();
