/*!
 * Makes each program one file, so that it starts nearly as fast as Node itself. CommonJS, as Node starts that faster
 * than modules, and without what the programs never use but their libraries load (bench/README.md has the figures).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { build, type Plugin } from 'esbuild';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const programs = readdirSync('packages').filter(name => name.startsWith('sql') && name !== 'sql');

/** What stands in for modules that take long to load. */
const STAND_INS: [specifier: RegExp, importer: RegExp, contents: string][] = [
  // Our help is ASCII; string-width compiles Unicode's tables to measure it.
  [/^string-width$/, /\/(yargs|cliui|wrap-ansi)\//, 'export default text => text.length'],
  // undici does without HTTP/2 where Node has none.
  [/^node:http2$/, /\/undici\//, 'throw new Error("no HTTP/2")'],
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

await Promise.all(
  programs.map(name =>
    build({
      entryPoints: [`packages/${name}/src/main.ts`],
      outfile: `packages/${name}/dist/main.js`,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20.19',
      minify: true,
      plugins: [standIns],
      // through2 brings a copy of Node's streams, which Node has itself.
      alias: { 'readable-stream': 'node:stream' },
      // What modules know of themselves and CommonJS does not.
      banner: { js: "const FILE_URL = require('node:url').pathToFileURL(__filename).href;" },
      define: { VERSION: JSON.stringify(version), 'import.meta.url': 'FILE_URL' },
      legalComments: 'none',
    }),
  ),
);
