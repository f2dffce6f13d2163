/*! Bundles each program as a few files, so that it starts nearly as fast as Node itself (bench/README.md has the figures). */
import { bundleModules, bundleProgram, programs } from './bundler.js';

// The grammar of queries with its libraries, which has hundreds of modules: tests of packages load it too.
await bundleModules({
  entryPoints: ['packages/engine/src/parse/grammar.ts'],
  outfile: 'packages/engine/dist/parse/grammar.js',
  banner: {},
});
await Promise.all(programs.map(bundleProgram));
