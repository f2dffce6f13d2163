/*! Bundles sources and libraries into one file, without modules that libraries load but never use here. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';

/** The version of all packages. */
export const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** The programs by name. */
export const programs: string[] = readdirSync('packages').filter(name => name.startsWith('sql') && name !== 'sql');

/** Replacements for modules that are slow to load. */
const STAND_INS: [specifier: RegExp, importer: RegExp, contents: string][] = [
  // Our help is ASCII; string-width compiles Unicode's tables to measure it.
  [/^string-width$/, /\/(yargs|cliui|wrap-ansi)\//, 'export default text => text.length'],
  // yargs checks its arguments, which the compiler has checked.
  [/^\.\/argsert\.js$/, /\/yargs\//, 'export const argsert = () => {}'],
  // To format its message, Node's assert would parse the one long line of the bundle, which takes a minute.
  [
    /^node:assert$/,
    /\/undici\//,
    "module.exports = (holds, message = 'unexpected state') => { if (!holds) throw Object.assign(new Error(message), { name: 'AssertionError' }) }",
  ],
  // yargs asserts that its own code is called as its types say.
  [/^assert$/, /\/yargs\//, 'export const strictEqual = () => {}, notStrictEqual = strictEqual'],
  // undici uses Node's HTTP only for the maximum size of a header, and to recognize its bodies.
  [/^node:http$/, /\/undici\//, 'module.exports = { maxHeaderSize: 16384 }'],
  // undici's HTTP/2 and the bodies of fetch are never used: requests are HTTP/1.1 without bodies.
  [/\/client-h2\.js$/, /\/undici\//, 'module.exports = undefined'],
  [/\/fetch\/body\.js$/, /\/undici\//, 'module.exports = undefined'],
  // Only plans need hashes.
  [
    /^node:crypto$/,
    /\/schema\//,
    "export const createHash = algorithm => require('node:crypto').createHash(algorithm)",
  ],
];

const standIns: Plugin = {
  name: 'stand-ins',
  setup({ onResolve, onLoad }) {
    for (const [filter, importedBy, contents] of STAND_INS) {
      const namespace = filter.source;
      onResolve({ filter }, ({ importer, path }) => (importedBy.test(importer) ? { path, namespace } : undefined));
      onLoad({ filter: /^/, namespace }, () => ({ contents }));
    }
  },
};

/** Resolves programs that `sqlpipe` starts: to their sources, for one bundle, or to their own bundles. */
const otherPrograms = (asFiles: boolean): Plugin => ({
  name: 'other programs',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^@sqlpipe\/sql[^/]+$/ }, ({ path }) => {
      const name = path.slice('@sqlpipe/'.length);
      return asFiles
        ? { path: `../../${name}/dist/main.js`, external: true }
        : { path: resolve(`packages/${name}/src/main.ts`) };
    }),
});

/** What these files import when it is needed is a file of its own: most of a program is not compiled for `--help`. */
const onDemand = (importers: readonly string[]): Plugin => ({
  name: 'on demand',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\// }, ({ path, kind, importer }) =>
      kind === 'dynamic-import' && importers.some(each => resolve(each) === importer)
        ? { path, external: true }
        : undefined,
    ),
});

/** A source file, the files that it imports when they are needed, and so on. */
function withOnDemand(path: string): string[] {
  const needed = readFileSync(path, 'utf8').matchAll(/\bimport\('\.\/(.+?)\.js'\)/g);
  return [path, ...Array.from(needed, ([, file]) => withOnDemand(`${dirname(path)}/${file}.ts`)).flat()];
}

const common = {
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  minify: true,
  // through2 brings a copy of Node's streams, which Node has itself.
  alias: { 'readable-stream': 'node:stream' },
  define: { VERSION: JSON.stringify(version) },
  legalComments: 'none',
} as const satisfies BuildOptions;

/** Writes a bundle; a file that is already the same is not written, so that a running program never finds it incomplete. */
async function writeBundle(options: BuildOptions, plugins = [standIns]): Promise<void> {
  const { outputFiles } = await build({ ...common, ...options, plugins, write: false });
  for (const { path, contents } of outputFiles) {
    if (existsSync(path) && readFileSync(path).equals(contents)) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }
}

/** What makes CommonJS; Node starts that faster than modules. */
const script = {
  format: 'cjs',
  // Node's loader of modules need not be started.
  supported: { 'dynamic-import': false },
  // What modules know of themselves and CommonJS does not.
  banner: {
    js: "const FILE = { get URL() { return require('node:url').pathToFileURL(__filename).href } }, HERE = () => '.', NOW = () => Number(process.hrtime.bigint()) / 1e6;",
  },
  define: {
    ...common.define,
    // yargs wants to know where it is, whatever for; there may be no such place any more.
    'import.meta.url': 'FILE.URL',
    'process.cwd': 'HERE',
    // Node would load its tools for measuring.
    'performance.now': 'NOW',
  },
} as const satisfies BuildOptions;

/** Makes one CommonJS file of a program, and all that it and the other programs import. */
export const bundleScript = (options: BuildOptions): Promise<void> =>
  writeBundle({ ...script, ...options }, [standIns, otherPrograms(false)]);

/** Makes CommonJS files of a program: its main file, and what that imports when it is needed. */
export async function bundleProgram(name: string): Promise<void> {
  const entryPoints = withOnDemand(`packages/${name}/src/main.ts`);
  await writeBundle({ ...script, entryPoints, outdir: `packages/${name}/dist` }, [
    standIns,
    otherPrograms(true),
    onDemand(entryPoints),
  ]);
}

/** Bundles a library and its imports as one module. */
export const bundleModule = (options: BuildOptions): Promise<void> =>
  writeBundle({
    format: 'esm',
    minify: false,
    // Bundled CommonJS modules call `require` for Node's own modules.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);",
    },
    ...options,
  });
