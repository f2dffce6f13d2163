/*! The dependencies between packages: tests for the layout that CONTRIBUTING describes. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { findCycle } from '@sqlpipe/schema';
import { formatApiPage } from '../../scripts/api/page.js';
import { type Source, sourcesOf } from '../support/sources.js';
import { test } from '../support/test.js';

interface Manifest {
  name: string;
  bin?: Record<string, string>;
  dependencies?: Record<string, string>;
}

interface Package {
  name: string;
  folder: string;
  manifest: Manifest;
  sources: Source[];
}

const names = readdirSync('packages');
const sources = sourcesOf(names.map(name => `packages/${name}`));
const packages: Package[] = names.map((name, i) => {
  const folder = `packages/${name}`;
  const manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as Manifest;
  return { name, folder, manifest, sources: sources[i] ?? [] };
});

const CONTRIBUTING = readFileSync('CONTRIBUTING.md', 'utf8');

const listFiles = (...patterns: string[]): string[] =>
  execFileSync('git', ['ls-files', '-z', ...patterns], { encoding: 'utf8' })
    .split('\0')
    .filter(existsSync);

/** Finds the lines of files that break a rule, as `path:line`. */
const findLines = (paths: readonly string[], isWrong: (line: string) => boolean): string[] =>
  paths.flatMap(path =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, i) => (isWrong(line) ? `${path}:${i + 1}` : [])),
  );

/** The rows of the table of packages: their names, and the libraries that only they import. */
const rows = [...CONTRIBUTING.matchAll(/^\| `([\w` ]+)` \|[^|]*\|([^|]*)\|$/gm)].map(
  ([, names = '', libraries = '']) => ({
    names: names.split('` `'),
    libraries: libraries
      .split(',')
      .map(library => library.trim())
      .filter(library => library !== ''),
  }),
);

/** The arrows of the first diagram: what a package may import, without what that one may import. */
const arrows = new Map<string, string[]>();
for (const line of CONTRIBUTING.match(/```mermaid\n(.*?)```/s)?.[1]?.split('\n') ?? []) {
  const groups = line.split('-->').map(group => group.split('&').map(name => name.trim()));
  for (const [i, to] of groups.slice(1).entries())
    for (const name of groups[i] ?? []) arrows.set(name, [...(arrows.get(name) ?? []), ...to]);
}

/** Whether a package is a program; `sqlpipe` is one, too. */
const isProgram = ({ manifest }: Package) => manifest.bin !== undefined;
const programs = packages.filter(isProgram).map(({ name }) => name);

function importable(name: string): Set<string> {
  if (name === 'sqlpipe') return new Set([...importable('programs'), ...programs]);
  const direct = arrows.get(programs.includes(name) ? 'programs' : name) ?? [];
  return new Set(direct.flatMap(each => [each, ...importable(each)]));
}

/** The imports of a package from other packages: the path of the file, and `to` as `@scope/name` or `name`. */
const importsOf = ({ sources }: Package) =>
  sources.flatMap(({ path, imports }) =>
    imports
      .filter(specifier => !specifier.startsWith('.') && !isBuiltin(specifier))
      .map(specifier => ({ path, to: specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/') })),
  );

const formatImport = ({ path, to }: { path: string; to: string }) => `${path} imports ${to}`;

test('CONTRIBUTING lists each package, and the arrows of its diagram join all libraries', t => {
  for (const { name, manifest } of packages.filter(isProgram)) t.truthy(manifest.bin?.[name], name);
  const names = packages.map(({ name }) => name).sort();
  t.deepEqual(rows.flatMap(row => row.names).sort(), names);
  const drawn = new Set([...arrows].flat(2));
  t.deepEqual([...drawn].sort(), [...names.filter(name => !programs.includes(name)), 'programs'].sort());
});

test('packages import only packages that an arrow of CONTRIBUTING leads to', t => {
  const wrong = packages.flatMap(each =>
    importsOf(each).filter(({ to }) => {
      const [scope, name = ''] = to.split('/');
      return scope === '@sqlpipe' && !importable(each.name).has(name);
    }),
  );
  t.deepEqual(wrong.map(formatImport), []);
});

test('a file imports its own package by path, and other packages by name', t => {
  const wrong = packages.flatMap(({ folder, sources }) =>
    sources.flatMap(({ path, imports }) =>
      imports
        .filter(to => to.startsWith('.') && !join(dirname(path), to).startsWith(`${folder}/src/`))
        .map(to => ({ path, to })),
    ),
  );
  t.deepEqual(wrong.map(formatImport), []);
});

/** The order of the folders of a package, as CONTRIBUTING has it; a file, without its suffix, may be one of them. */
const orders = [...CONTRIBUTING.matchAll(/ In `(\w+)\/src`:\s([^.]*)\./g)].map(([, name = '', list = '']) => ({
  name,
  order: [...list.matchAll(/`([\w-]+)`/g)].map(([, folder = '']) => folder),
}));

test('the folders of a package import only those before them; programs read plans without an engine', t => {
  const names = orders.map(({ name }) => name);
  t.deepEqual(names, ['ddl', 'plan', 'instance', 'engine', 'replay']);
  for (const { name, order } of orders) {
    const root = `packages/${name}/src`;
    const folders = readdirSync(root).filter(name => statSync(join(root, name)).isDirectory());
    const found = folders.filter(folder => !order.includes(folder));
    t.deepEqual(found, []);
    const rank = (path: string) => {
      const [, first = '', rest = ''] = /^(\w[\w-]*)(.*)$/.exec(path.slice(root.length + 1)) ?? [];
      const isEntry = folders.includes(first) && !rest.startsWith('/'); // `parser.ts` beside `parser/`
      const index = isEntry ? -1 : order.indexOf(first);
      return index < 0 ? order.length : index; // the other files beside the folders come last
    };
    const sources = packages.find(each => each.name === name)?.sources ?? [];
    const all = sources.flatMap(({ path, imports }) => imports.map(to => ({ path, to })));
    const wrong = all.filter(({ path, to }) => to.startsWith('.') && rank(join(dirname(path), to)) > rank(path));
    t.true(all.length > 0);
    t.deepEqual(wrong.map(formatImport), []);
  }
});

test('no files import each other in a cycle', t => {
  const imports = new Map(
    packages.flatMap(({ sources }) =>
      sources.map(({ path, imports }) => [
        path,
        imports.filter(to => to.startsWith('.')).map(to => join(dirname(path), to).replace(/\.js$/, '.ts')),
      ]),
    ),
  );
  t.is(findCycle(imports), undefined);
});

test('each external library is imported by the package that CONTRIBUTING names, and by no other', t => {
  const imported = packages.map(each => {
    const libraries = importsOf(each).map(({ to }) => to);
    return [each.name, [...new Set(libraries.filter(to => !to.startsWith('@sqlpipe/')))].sort()];
  });
  const listed = rows.flatMap(({ names, libraries }) => names.map(name => [name, [...libraries].sort()]));
  t.deepEqual(Object.fromEntries(imported), Object.fromEntries(listed));
});

test('each import is declared in the manifest of its package, and each dependency is imported', t => {
  for (const each of packages) {
    const imported = new Set(importsOf(each).map(({ to }) => to));
    t.deepEqual([...imported].sort(), Object.keys(each.manifest.dependencies ?? {}).sort(), each.name);
  }
});

test('no library except cli uses the process, or changes how V8 works in it', t => {
  const wrong = packages
    .filter(each => !isProgram(each) && each.name !== 'cli')
    .flatMap(({ sources }) => sources)
    .filter(
      ({ identifiers, imports }) =>
        identifiers.has('process') || identifiers.has('setFlagsFromString') || imports.includes('node:process'),
    );
  const paths = wrong.map(({ path }) => path);
  t.deepEqual(paths, []);
});

test('each value that a library exports is used outside of it', async t => {
  const files = listFiles('test', 'scripts', 'bench');
  const words = new Set(files.flatMap(path => readFileSync(path, 'utf8').match(/\w+/g) ?? []));
  const found: string[] = [];
  for (const { name } of packages.filter(each => !isProgram(each))) {
    const others = packages.filter(each => each.name !== name).flatMap(({ sources }) => sources);
    const unused = Object.keys(await import(`@sqlpipe/${name}`)).filter(
      each => !words.has(each) && !others.some(({ identifiers }) => identifiers.has(each)),
    );
    found.push(...unused.map(each => `${name}: ${each}`));
  }
  t.deepEqual(found, []);
});

test('every export of a library has a docstring', t => {
  const wrong = packages
    .filter(each => !isProgram(each))
    .flatMap(({ sources }) => {
      const given = sources.find(({ path }) => path.endsWith('/src/index.ts'))?.passedOn ?? [];
      return sources.flatMap(({ path, undocumented }) => {
        const isGiven = given.includes(path.replace(/^packages\/\w+\/src\/(.*)\.ts$/, '* from ./$1.js'));
        return undocumented.filter(name => isGiven || given.includes(name)).map(name => `${path}: ${name}`);
      });
    });
  t.deepEqual(wrong, []);
});

test('docs/API.md is made of the docstrings, and has each name that the library gives to others (make api writes it)', t => {
  const page = formatApiPage();
  t.is(readFileSync('docs/API.md', 'utf8'), page);
  const given = packages.find(({ name }) => name === 'api')?.sources.flatMap(({ passedOn }) => passedOn) ?? [];
  t.true(given.length > 0);
  const found = given.filter(
    name => !new RegExp(`^## ${name}$|^(?:type|interface|function) ${name}\\b|\`${name}\``, 'm').test(page),
  );
  t.deepEqual(found, []);
});

test('every bin is executable and starts its program with the same code', t => {
  for (const { folder, manifest } of packages)
    for (const [name, bin] of Object.entries(manifest.bin ?? {})) {
      const path = `${folder}/${bin}`;
      t.is(readFileSync(path, 'utf8'), readFileSync('packages/sqldump/bin/sqldump.js', 'utf8'), name);
      t.is(statSync(path).mode & 0o111, 0o111, `${path} is not executable`);
    }
});

test('the lock file contains no download addresses', t => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { resolved?: string }>;
  };
  const resolved = Object.values(lock.packages).flatMap(each => each.resolved ?? []);
  const left = resolved.filter(address => !address.startsWith('packages/'));
  t.deepEqual(left, []);
});

test("no tracked file names a registry or a path of a developer's machine", t => {
  const machine = /registry[.]npmjs|repo1?[.]maven|static[.]crates|\/(home|Users)\/\w|\/root\/|\/work\/|\/tmp\/\w/;
  const wrong = findLines(listFiles(), line => machine.test(line));
  t.deepEqual(wrong, []);
});

test('a line of a comment has at most 140 characters', t => {
  const wrong = findLines(listFiles('*.ts'), line => line.length > 140 && /^\s*(?:\/\/|\/?\*)/.test(line));
  t.deepEqual(wrong, []);
});
