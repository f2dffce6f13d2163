/*!
 * Makes the package for npm: all programs with their man pages and completions, and the libraries with types. It
 * has no dependencies, since each program and the libraries are bundles.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundleModules, programs } from './bundler.js';

const folder = 'dist/package';
/** A library in declarations: `'@sqlpipe/ddl/parser'`. The compiler writes some with double quotes. */
const LIBRARY = /['"]@sqlpipe\/(\w+)(?:\/(\w+))?['"]/g;
const at = (...path: string[]) => join(folder, ...path);
const writeText = (path: string, text: string) => {
  mkdirSync(join(at(path), '..'), { recursive: true });
  writeFileSync(at(path), text);
};

/** The file with the declarations of a library, or of a part of one, in its folder `dist`. */
function declarationsOf(library: string, part?: string): string {
  const { exports } = JSON.parse(readFileSync(`packages/${library}/package.json`, 'utf8'));
  return exports[part === undefined ? '.' : `./${part}`].types.replace('./dist/', '');
}

/** The declarations of a file and of all that it refers to; they name libraries as packages, which they are no longer. */
function copyDeclarations(library: string, name = declarationsOf(library), copied = new Set<string>()): void {
  const path = `${library}/${name}`;
  if (copied.has(path)) return;
  copied.add(path);
  const text = readFileSync(`packages/${library}/dist/${name}`, 'utf8');
  const up = '../'.repeat(name.split('/').length);
  const local = text.replace(
    LIBRARY,
    (_, other, part) => `'${up}${other}/${declarationsOf(other, part).replace('.d.ts', '.js')}'`,
  );
  writeText(`lib/${path}`, local.replace(/^\/\/# source.*/m, ''));
  for (const [, other = '', part] of text.matchAll(LIBRARY))
    copyDeclarations(other, declarationsOf(other, part), copied);
  for (const [, other = ''] of text.matchAll(/['"](\.\.?\/.*?)\.js['"]/g))
    copyDeclarations(library, `${join(dirname(name), other)}.d.ts`, copied);
}

/** What others have written and the bundles hold, as `npm query` lists it, with the licenses that have to be distributed with it. */
function formatNotices(): string {
  const query = ['query', '.prod:not(.workspace, #sqlpipe)'];
  const packages: { name: string; version: string; license: string; path: string }[] = JSON.parse(
    execFileSync('npm', query, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  const sections = packages.map(({ name, version, license, path }) => {
    const file = readdirSync(path).find(file => /^licen[cs]e/i.test(file));
    if (!file) throw new Error(`${path} has no license`);
    const text = readFileSync(join(path, file), 'utf8').trimEnd().replace(/^/gm, '    ');
    return `## ${name} ${version} (${license})\n\n${text}\n`;
  });
  return `# Notices\n\nWhat others have written and this package holds.\n\n${sections.join('\n')}`;
}

rmSync(folder, { recursive: true, force: true });
for (const name of programs) {
  const scripts = readdirSync(`packages/${name}/dist`).filter(file => file.endsWith('.js'));
  for (const part of ['bin', ...scripts.map(file => `dist/${file}`), `${name}.1`])
    cpSync(`packages/${name}/${part}`, at('programs', name, part), { recursive: true });
  const complete = (shell: string) =>
    execFileSync(`packages/${name}/bin/${name}.js`, ['--completion', shell], { encoding: 'utf8' });
  writeText(`completions/bash/${name}`, complete('bash'));
  writeText(`completions/zsh/_${name}`, complete('zsh'));
  writeText(`completions/fish/${name}.fish`, complete('fish'));
}
writeText('programs/package.json', '{ "type": "commonjs" }\n');
cpSync('packages/cli/sqlpipe.7', at('sqlpipe.7'));

await bundleModules({ entryPoints: ['packages/api/src/index.ts'], outfile: at('lib/index.js') });
copyDeclarations('api');

for (const file of ['README.md', 'GUIDE.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE', 'docs'])
  cpSync(file, at(file), { recursive: true });
writeText('NOTICES.md', formatNotices());
const { name, version, description, license, repository, type, engines } = JSON.parse(
  readFileSync('package.json', 'utf8'),
);
const bin = Object.fromEntries(programs.map(program => [program, `programs/${program}/bin/${program}.js`]));
const man = [...programs.map(program => `programs/${program}/${program}.1`), 'sqlpipe.7'];
const exports = { '.': { types: './lib/api/index.d.ts', default: './lib/index.js' } };
const keywords = ['questdb', 'schema', 'ddl', 'dump', 'sql', 'migration', 'cli'];
const manifest = { name, version, description, keywords, license, repository, type, engines, bin, man, exports };
writeText('package.json', `${JSON.stringify(manifest, null, 2)}\n`);

// Those of the usual umask, 022.
execFileSync('chmod', ['-R', 'u=rwX,go=rX', folder]);
const [packed] = JSON.parse(
  execFileSync('npm', ['pack', '--json', '--pack-destination', 'dist', `./${folder}`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }),
);
console.log(`dist/${packed.filename}`);
