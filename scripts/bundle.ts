/*! Bundles each program as a few files, so that it starts nearly as fast as Node itself (bench/README.md has the figures). */
import { bundleModules, bundleProgram, programs } from './bundler.js';

// The grammar of queries with its libraries, which has hundreds of modules: tests of packages load it too.
await bundleModules({
  entryPoints: ['packages/engine/src/parse/grammar.ts'],
  outfile: 'packages/engine/dist/parse/grammar.js',
  banner: {},
});
await Promise.all(programs.map(bundleProgram));
// Tests call several programs in one process, which loads what these share once.
await bundleModules({
  entryPoints: programs.map(name => ({ in: `packages/${name}/src/main.ts`, out: name })),
  outdir: '.cache/programs',
  splitting: true,
});
