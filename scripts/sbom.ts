/*! Lists the contents of a release as a CycloneDX SBOM: the bundled packages, and Node. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { version } from './bundler.js';
import { NODE_VERSION } from './executable/nodes.js';

/** `npm sbom` of npm 11 omits some packages that development tools need too. */
const tool = ['exec', '--yes', '--loglevel=error', '--package=@cyclonedx/cyclonedx-npm@6.0.1', '--', 'cyclonedx-npm'];
const options = ['--package-lock-only', '--omit', 'dev', '--output-reproducible', '--mc-type', 'application'];
const sbom = JSON.parse(execFileSync('npm', [...tool, ...options], { encoding: 'utf8', maxBuffer: 2 ** 24 }));
sbom.components.push({
  type: 'platform',
  'bom-ref': `node@${NODE_VERSION}`,
  name: 'node',
  version: NODE_VERSION,
  description: 'Inside the executables; not in the package for npm.',
  licenses: [{ license: { id: 'MIT' } }],
  cpe: `cpe:2.3:a:nodejs:node.js:${NODE_VERSION}:*:*:*:*:*:*:*`,
  purl: `pkg:generic/node@${NODE_VERSION}`,
});
const path = `dist/sqlpipe-${version}.cdx.json`;
writeFileSync(path, `${JSON.stringify(sbom, null, 2)}\n`);
console.log(path);
