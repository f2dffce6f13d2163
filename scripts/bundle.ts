/*! Makes each program one file, so that it starts nearly as fast as Node itself (bench/README.md has the figures). */
import { oneScript, programs } from './one-file.js';

await Promise.all(
  programs.map(name =>
    oneScript({ entryPoints: [`packages/${name}/src/main.ts`], outfile: `packages/${name}/dist/main.js` }),
  ),
);
