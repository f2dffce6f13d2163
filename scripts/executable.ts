/*!
 * Makes an archive for machines without Node: one executable that is all programs, by the name it is called by or by
 * its first word, as packages/sqlpipe has it; a link for each; what the package has besides. The Node that runs this is the Node inside.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { bundleScript, programs, version } from './bundler.js';

const packed = 'dist/package';
const name = `sqlpipe-${version}-${process.platform}-${process.arch}`;
const at = (path: string) => `dist/${name}/${path}`;

/** An executable out of a script: a copy of this Node that runs it (nodejs.org/api/single-executable-applications). */
function makeExecutable(script: string, path: string): void {
  const [blob, config] = [`${script}.blob`, `${script}.json`];
  writeFileSync(
    config,
    JSON.stringify({ main: script, output: blob, disableExperimentalSEAWarning: true, useCodeCache: true }),
  );
  execFileSync(process.execPath, ['--experimental-sea-config', config], { stdio: 'ignore' });
  cpSync(process.execPath, path);
  const fuse = ['--sentinel-fuse', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'];
  execFileSync('node_modules/.bin/postject', [path, 'NODE_SEA_BLOB', blob, ...fuse], { stdio: 'ignore' });
  for (const made of [script, blob, config]) rmSync(made);
}

rmSync(at(''), { recursive: true, force: true });
await bundleScript(
  { entryPoints: ['packages/sqlpipe/src/main.ts'], outfile: at('bin/sqlpipe.js') },
  { programs: 'inside' },
);
makeExecutable(at('bin/sqlpipe.js'), at('bin/sqlpipe'));

for (const program of programs) {
  if (program !== 'sqlpipe') symlinkSync('sqlpipe', at(`bin/${program}`));
  cpSync(`${packed}/programs/${program}/${program}.1`, at(`share/man/man1/${program}.1`));
}
cpSync(`${packed}/sqlpipe.7`, at('share/man/man7/sqlpipe.7'));
for (const [shell, folder] of Object.entries({
  bash: 'bash-completion/completions',
  zsh: 'zsh/site-functions',
  fish: 'fish/vendor_completions.d',
}))
  cpSync(`${packed}/completions/${shell}`, at(`share/${folder}`), { recursive: true });
for (const file of ['README.md', 'GUIDE.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE', 'NOTICES.md', 'docs'])
  cpSync(`${packed}/${file}`, at(`share/doc/sqlpipe/${file}`), { recursive: true });
writeFileSync(
  at('share/doc/sqlpipe/NOTICE.node'),
  `The executable holds Node.js ${process.version}; its license: https://github.com/nodejs/node/blob/${process.version}/LICENSE\n`,
);

execFileSync('tar', ['-czf', `dist/${name}.tar.gz`, '--owner=0', '--group=0', '--numeric-owner', '-C', 'dist', name]);
console.log(`dist/${name}.tar.gz`);
