/*! Bundles each program as a few files, so that it starts nearly as fast as Node itself (bench/README.md has the figures). */
import { bundleProgram, programs } from './bundler.js';

await Promise.all(programs.map(bundleProgram));
