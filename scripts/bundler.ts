/*! Bundles sources and libraries, without modules that libraries load but never use here. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type BuildOptions, build, type Plugin, transform } from 'esbuild';

/** The version of all packages. */
export const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** The programs by name. */
export const programs: string[] = readdirSync('packages').filter(name => name.startsWith('sql') && name !== 'sql');

/** Replacements for modules that are never used, or slow to load; what each saves is in bench/README.md. */
const STAND_INS: [specifier: RegExp, importer: RegExp, contents: string][] = [
  // yargs for browsers imports two libraries by address: its parser, and one that lays out its help, which is ours.
  [/^https:.*\/yargs-parser@/, /\/yargs\//, "export { default } from 'yargs-parser/browser'"],
  [/^https:.*\/cliui@/, /\/yargs\//, 'export default undefined'],
  // yargs checks its arguments, which the compiler has checked.
  [/^\.\/argsert\.js$/, /\/yargs\//, 'export const argsert = () => {}'],
  // To format its message, Node's assert would parse the one long line of the bundle, which takes a minute.
  [
    /^node:assert$/,
    /\/undici\//,
    "module.exports = (holds, message = 'unexpected state') => { if (!holds) throw Object.assign(new Error(message), { name: 'AssertionError' }) }",
  ],
  // undici uses Node's HTTP only for the maximum size of a header, and to recognize its bodies.
  [/^node:http$/, /\/undici\//, 'module.exports = { maxHeaderSize: 16384 }'],
  // undici's HTTP/2 is never used, and loads Node's.
  [/\/client-h2\.js$/, /\/undici\//, 'module.exports = undefined'],
  [/^chevrotain$/, /\/@questdb\/sql-parser\//, "export * from './scripts/chevrotain.ts'"],
];

const standIns: Plugin = {
  name: 'stand-ins',
  setup({ onResolve, onLoad }) {
    for (const [filter, importedBy, contents] of STAND_INS) {
      const namespace = filter.source;
      onResolve({ filter }, ({ importer, path }) => (importedBy.test(importer) ? { path, namespace } : undefined));
      onLoad({ filter: /^/, namespace }, () => ({ contents, resolveDir: '.' }));
    }
  },
};

/** The main file of a program, that of `sqlpipe copy`, and the list of programs. */
const MAIN_FILE = /^packages\/sql[^/]+\/src\/(main|copy|programs)\.ts$/;

/**
 * Finds the sources of programs. What main files and the command line import when it is needed is a bundle of its own, and is added
 * to `found`: main files use little of what is shared, and load no more.
 */
const sourcesOfPrograms = (found: Set<string>): Plugin => ({
  name: 'sources of programs',
  setup({ onResolve, onLoad }) {
    // They are modules, although their packages say CommonJS, which the bundles are; esbuild would convert them. Names of files are made
    // of their paths, which are relative, so that they are the same on every machine.
    const namespace = 'modules';
    onLoad({ filter: /^/, namespace }, ({ path }) => ({
      contents: readFileSync(path),
      loader: 'ts',
      resolveDir: resolve(dirname(path)),
    }));
    onResolve({ filter: /^\.\// }, ({ path, kind, importer, namespace: from, resolveDir }) => {
      const isProgram = from === namespace || /^\.\/packages\/sql[^/]+\/src\//.test(path);
      const file = relative('.', join(resolveDir, isProgram ? path.replace(/js$/, 'ts') : path));
      if (kind !== 'dynamic-import' || !(MAIN_FILE.test(importer) || importer.includes('/packages/cli/')))
        return isProgram ? { path: file, namespace } : undefined;
      found.add(file);
      return { path, external: true };
    });
    onResolve({ filter: /^@sqlpipe\/sql/ }, ({ path }) => {
      const [, program, file] = path.split('/');
      if (file) return { path: `packages/${program}/src/${file}.ts`, namespace };
      // The programs that `sqlpipe` starts are bundles of their own; '@sqlpipe/sql' is a library.
      return program === 'sql' ? undefined : { path: `../../${program}/dist/main.js`, external: true };
    });
  },
});

const common = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  minify: true,
  // through2 brings a copy of Node's streams, which Node has itself.
  // yargs for browsers reads no files: no locales, and no package.json of its caller, which it looks for in every folder above.
  alias: { 'readable-stream': 'node:stream', yargs: 'yargs/browser' },
  define: { VERSION: JSON.stringify(version) },
  legalComments: 'none',
} as const satisfies BuildOptions;

/** Writes a file, unless it is already the same, so that a running program never finds it incomplete. */
function writeOutput(path: string, contents: Uint8Array | string): void {
  const bytes = Buffer.from(contents);
  if (existsSync(path) && readFileSync(path).equals(bytes)) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}

/**
 * Makes CommonJS files of a program, which Node starts faster than modules: its main file, what its command line imports when it is
 * needed, and of that again what is imported when it is needed. esbuild divides only modules into files, so these are made first.
 */
export async function bundleProgram(name: string): Promise<void> {
  const folder = `packages/${name}/dist`;
  const entries = new Set([`packages/${name}/src/main.ts`]);
  const written = new Set<string>();
  for (const entry of entries) {
    const { outputFiles } = await build({
      ...common,
      format: 'esm',
      splitting: true,
      entryPoints: [entry],
      outdir: folder,
      write: false,
      plugins: [standIns, sourcesOfPrograms(entries)],
    });
    for (const { path, text } of outputFiles) {
      // Node's loader of modules need not be started for an import when it is needed.
      const options = { format: 'cjs', minify: true, supported: { 'dynamic-import': false } } as const;
      writeOutput(path, (await transform(text, { ...options, platform: 'node', target: common.target })).code);
      written.add(basename(path));
    }
  }
  for (const file of readdirSync(folder)) if (file.endsWith('.js') && !written.has(file)) rmSync(join(folder, file));
}

/** Finds packages by their names, as sources. Programs export no main file. */
const packageSources: Plugin = {
  name: 'sources of packages',
  setup({ onResolve }) {
    onResolve({ filter: /^@sqlpipe\// }, ({ path }) => {
      const [, name = '', file = /^sql./.test(name) ? 'main' : 'index'] = path.split('/');
      const source = resolve('packages', name, 'src', file);
      return { path: existsSync(`${source}.ts`) ? `${source}.ts` : join(source, 'index.ts'), sideEffects: false };
    });
  },
};

/** Bundles sources and their imports as modules. */
export async function bundleModules(options: BuildOptions): Promise<void> {
  const { outputFiles } = await build({
    ...common,
    format: 'esm',
    minify: false,
    // Bundled CommonJS modules call `require` for Node's own modules.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);",
    },
    ...options,
    write: false,
    plugins: [standIns, packageSources],
  });
  for (const { path, contents } of outputFiles) writeOutput(path, contents);
}

/**
 * Bundles the tests, what they start, and the programs that they call as functions. A test file loads few files instead of hundreds of
 * modules, and what it shares with programs once.
 */
export const bundleTests = (): Promise<void> =>
  bundleModules({
    entryPoints: [
      './test/**/*.test.ts',
      './test/support/server-pool.ts',
      './scripts/questdb.ts',
      ...programs.map(name => `./packages/${name}/src/main.ts`),
    ],
    outdir: '.cache/compiled',
    outbase: '.',
    splitting: true,
    external: ['ava', 'esbuild', 'tsx', 'typescript', 'yaml'],
  });
