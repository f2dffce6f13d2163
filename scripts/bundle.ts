/*! Makes each program one file, so that it starts nearly as fast as Node itself. */
import { readdirSync, readFileSync } from 'node:fs';
import { build } from 'esbuild';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const programs = readdirSync('packages').filter(name => name.startsWith('sql') && name !== 'sql');

await Promise.all(
  programs.map(name =>
    build({
      entryPoints: [`packages/${name}/src/main.ts`],
      outfile: `packages/${name}/dist/main.js`,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20.19',
      minify: true,
      // through2 brings a copy of Node's streams, which Node has itself.
      alias: { 'readable-stream': 'node:stream' },
      define: { VERSION: JSON.stringify(version) },
      legalComments: 'none',
      // CommonJS dependencies call require() for Node's own modules.
      banner: {
        js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);",
      },
    }),
  ),
);
