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

/** Resolves the imports of other programs in `sqlpipe`: to their sources, for one bundle, or to their own bundles. */
const otherPrograms = (asFiles: boolean): Plugin => ({
  name: 'other programs',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^@sqlpipe\/sql.+/ }, ({ path }) => {
      const name = path.slice('@sqlpipe/'.length);
      return asFiles
        ? { path: `../../${name}/dist/main.js`, external: true }
        : { path: resolve(`packages/${name}/src/main.ts`) };
    }),
});

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

/**
 * Bundles a program and its imports as one CommonJS file, which Node starts faster than modules. Other programs that
 * it imports are part of it with `programs: 'inside'`.
 */
export const bundleScript = (options: BuildOptions, { programs }: { programs?: 'inside' } = {}): Promise<void> =>
  writeBundle(
    {
      format: 'cjs',
      // Without dynamic imports Node need not start its loader of modules.
      supported: { 'dynamic-import': false },
      // The values of `import.meta` that CommonJS lacks.
      banner: { js: "const FILE_URL = require('node:url').pathToFileURL(__filename).href, HERE = () => '.';" },
      // yargs calls process.cwd, which throws if the current folder has been removed.
      define: { ...common.define, 'import.meta.url': 'FILE_URL', 'process.cwd': 'HERE' },
      ...options,
    },
    [standIns, otherPrograms(programs !== 'inside')],
  );

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
