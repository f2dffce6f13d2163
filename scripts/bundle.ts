/*! Bundles each program as one file, so that it starts nearly as fast as Node itself (bench/README.md has the figures). */
import { bundleScript, programs } from './bundler.js';

await Promise.all(
  programs.map(name =>
    bundleScript({ entryPoints: [`packages/${name}/src/main.ts`], outfile: `packages/${name}/dist/main.js` }),
  ),
);
