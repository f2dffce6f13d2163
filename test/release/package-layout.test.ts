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

/** A package imports only packages in lines above its own. Programs come after all libraries, and `sqlpipe`, which starts them, last. */
const LAYERS = [
  ['text'],
  ['sql'],
  ['ddl'],
  ['schema'],
  ['engine', 'records'],
  ['files', 'instance', 'plan'],
  ['replay', 'server'],
  ['api', 'cli'],
];

/** The only package that may import each of these libraries. */
const ONLY_IMPORTERS = {
  split2: 'records',
  through2: 'records',
  undici: 'instance',
  yargs: 'cli',
  'cli-progress': 'cli',
  'cli-truncate': 'cli',
  '@questdb/sql-parser': 'engine',
};

const packages: Package[] = readdirSync('packages').map(name => {
  const folder = `packages/${name}`;
  const manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as Manifest;
  return { name, folder, manifest, sources: sourcesOf(folder) };
});

const layerOf = (name: string) => {
  const layer = LAYERS.findIndex(names => names.includes(name));
  if (layer >= 0) return layer;
  return name === 'sqlpipe' ? LAYERS.length + 1 : LAYERS.length;
};

const isProgram = ({ name }: Package) => layerOf(name) >= LAYERS.length;

/** The imports of a package from other packages: the path of the file, and `to` as `@scope/name` or `name`. */
const importsOf = ({ sources }: Package) =>
  sources.flatMap(({ path, imports }) =>
    imports
      .filter(specifier => !specifier.startsWith('.') && !isBuiltin(specifier))
      .map(specifier => ({ path, to: specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/') })),
  );

const formatImport = ({ path, to }: { path: string; to: string }) => `${path} imports ${to}`;

test('each package is a library of a known layer or a program with a bin', t => {
  for (const { name, manifest } of packages.filter(isProgram)) t.truthy(manifest.bin?.[name], name);
  t.deepEqual(
    LAYERS.flat().filter(name => !packages.some(each => each.name === name)),
    [],
  );
});

test('packages import only packages of lower layers', t => {
  const wrong = packages.flatMap(each =>
    importsOf(each).filter(({ to }) => {
      const [scope, name = ''] = to.split('/');
      return scope === '@sqlpipe' && layerOf(name) >= layerOf(each.name);
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

test('each external library is imported by one package only', t => {
  const wrong = packages.flatMap(each =>
    importsOf(each).filter(({ to }) => (ONLY_IMPORTERS[to as keyof typeof ONLY_IMPORTERS] ?? each.name) !== each.name),
  );
  t.deepEqual(wrong.map(formatImport), []);
});

test('each import is declared in the manifest of its package, and each dependency is imported', t => {
  for (const each of packages) {
    const imported = new Set(importsOf(each).map(({ to }) => to));
    t.deepEqual([...imported].sort(), Object.keys(each.manifest.dependencies ?? {}).sort(), each.name);
  }
});

test('no library except cli uses the process', t => {
  const wrong = packages
    .filter(each => !isProgram(each) && each.name !== 'cli')
    .flatMap(({ sources }) => sources)
    .filter(({ identifiers, imports }) => identifiers.has('process') || imports.includes('node:process'));
  t.deepEqual(
    wrong.map(({ path }) => path),
    [],
  );
});

test('every export of a library has a docstring', t => {
  const wrong = packages
    .filter(each => !isProgram(each))
    .flatMap(({ sources }) => {
      const given = sources.find(({ path }) => path.endsWith('/src/index.ts'))?.passedOn ?? [];
      return sources.flatMap(({ path, undocumented }) =>
        undocumented.filter(name => given.includes(name)).map(name => `${path}: ${name}`),
      );
    });
  t.deepEqual(wrong, []);
});

test('docs/API.md is made of the docstrings, and has each name that the library gives to others (make api writes it)', t => {
  const page = formatApiPage();
  t.is(readFileSync('docs/API.md', 'utf8'), page);
  const given = packages.find(({ name }) => name === 'api')?.sources.flatMap(({ passedOn }) => passedOn) ?? [];
  t.true(given.length > 0);
  t.deepEqual(
    given.filter(
      name => !new RegExp(`^## ${name}$|^(?:type|interface|function) ${name}\\b|\`${name}\``, 'm').test(page),
    ),
    [],
  );
});

test('every bin is executable and starts its program with the same code', t => {
  for (const { folder, manifest } of packages) {
    for (const [name, bin] of Object.entries(manifest.bin ?? {})) {
      const path = `${folder}/${bin}`;
      t.is(readFileSync(path, 'utf8'), readFileSync('packages/sqldump/bin/sqldump.js', 'utf8'), name);
      t.is(statSync(path).mode & 0o111, 0o111, `${path} is not executable`);
    }
  }
});

test('the lock file contains no download addresses', t => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { resolved?: string }>;
  };
  const resolved = Object.values(lock.packages).flatMap(each => each.resolved ?? []);
  t.deepEqual(
    resolved.filter(address => !address.startsWith('packages/')),
    [],
  );
});

test("no tracked file names a registry or a path of a developer's machine", t => {
  const machine = /registry[.]npmjs|repo1?[.]maven|static[.]crates|\/(home|Users)\/\w|\/root\/|\/work\/|\/tmp\/\w/;
  const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0').slice(0, -1);
  const wrong = files
    .filter(path => existsSync(path))
    .flatMap(path =>
      readFileSync(path, 'utf8')
        .split('\n')
        .flatMap((line, i) => (machine.test(line) ? `${path}:${i + 1}` : [])),
    );
  t.deepEqual(wrong, []);
});
