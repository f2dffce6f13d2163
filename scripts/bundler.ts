/*! Bundles sources and libraries into one file, without modules that libraries load but never use here. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';

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

/** The programs that `sqlpipe` starts: each is a bundle of its own. */
const otherPrograms: Plugin = {
  name: 'other programs',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^@sqlpipe\/sql[^/]+$/ }, ({ path }) => ({
      path: `../../${path.slice('@sqlpipe/'.length)}/dist/main.js`,
      external: true,
    })),
};

/**
 * What a program or the command line imports when it is needed is a file of its own: most of it is not compiled for
 * `--help`. The files that are imported so are added to `found`.
 */
const onDemand = (found: Set<string>): Plugin => ({
  name: 'on demand',
  setup: ({ onResolve, resolve }) =>
    onResolve({ filter: /^\.\// }, async ({ path, kind, importer, resolveDir }) => {
      if (kind !== 'dynamic-import' || !/\/packages\/(cli|engine|sql[^/]+)\//.test(importer)) return;
      found.add((await resolve(path, { kind: 'import-statement', resolveDir })).path);
      return { path, external: true };
    }),
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

/** Writes a bundle; a file that is already the same is not written, so that a running program never finds it incomplete. */
async function writeBundle(options: BuildOptions, plugins: Plugin[] = []): Promise<void> {
  const { outputFiles } = await build({ ...common, ...options, plugins: [standIns, ...plugins], write: false });
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
} as const satisfies BuildOptions;

/** Makes CommonJS files of a program: its main file, and what its command line imports when it is needed. */
export async function bundleProgram(name: string): Promise<void> {
  const files = new Set([`packages/${name}/src/main.ts`]);
  for (const file of files)
    await writeBundle({ ...script, entryPoints: [file], outdir: `packages/${name}/dist` }, [
      otherPrograms,
      onDemand(files),
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
