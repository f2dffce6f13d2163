/*!
 * Makes archives for machines without Node, and Debian packages, for the given platforms or for all: one executable with
 * all programs, a link to it for each of them, manual pages, completions and documents. The result is the same, byte for
 * byte, on every machine.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { programs, version } from './bundler.js';
import { debianPackage, tarball } from './executable/archive.js';
import { machineOf } from './executable/machine.js';
import { HERE, NODE_VERSION, nodeFor, PLATFORMS, platformNamed } from './executable/nodes.js';
import { signAdHoc } from './executable/signature.js';

const packed = 'dist/package';

/**
 * Makes an executable in a folder: a copy of a platform's Node that runs the packed programs
 * (nodejs.org/api/single-executable-applications). They are assets, of which only those are compiled that a run needs; a
 * code cache or a snapshot would not be the same bytes each time. The main script has a name and no path, because the
 * executable contains it.
 */
function makeExecutable(folder: string, platform: string): string {
  const executable = resolve(nodeFor(platform), 'bin/node');
  const files = programs.flatMap(name =>
    readdirSync(`${packed}/programs/${name}/dist`).map(file => `${name}/dist/${file}`),
  );
  const assets = Object.fromEntries(files.map(file => [file, resolve(packed, 'programs', file)]));
  const sea = { main: 'main.cjs', output: 'sqlpipe', executable, assets, disableExperimentalSEAWarning: true };
  cpSync('scripts/executable/main.cjs', `${folder}/main.cjs`);
  writeFileSync(`${folder}/sea.json`, JSON.stringify(sea));
  execFileSync(resolve(nodeFor(HERE), 'bin/node'), ['--build-sea', 'sea.json'], { cwd: folder, stdio: 'pipe' });
  const path = `${folder}/sqlpipe`;
  if (platform.startsWith('darwin')) signAdHoc(path, 'sqlpipe');
  requireMachine(path, platform);
  return path;
}

/** Runs an executable for this platform; of one for another platform it checks the header. @throws Error */
function requireMachine(path: string, platform: string): void {
  const { machine } = platformNamed(platform);
  const found = machineOf(path);
  if (found !== machine) throw new Error(`${path}: made for ${found}, not for ${machine}`);
  if (platform !== HERE) return;
  const printed = execFileSync(path, ['--version'], { encoding: 'utf8', env: {} });
  if (printed !== `sqlpipe ${version}\n`) throw new Error(`${path}: printed ${printed}`);
}

/** The programs that become links to the executable. */
const linked = programs.filter(program => program !== 'sqlpipe');

/** Where shells look for completions; Debian's zsh looks elsewhere. */
const SHARED = { bash: 'bash-completion/completions', fish: 'fish/vendor_completions.d', zsh: 'zsh/site-functions' };

/** Fills `bin` and `share` of a folder. */
function install(folder: string, executable: string, links: string[], shared: Record<string, string>): void {
  const at = (path: string) => `${folder}/${path}`;
  mkdirSync(at('bin'), { recursive: true });
  cpSync(executable, at('bin/sqlpipe'));
  for (const link of links) symlinkSync('sqlpipe', at(`bin/${link}`));
  for (const program of programs)
    cpSync(`${packed}/programs/${program}/${program}.1`, at(`share/man/man1/${program}.1`));
  cpSync(`${packed}/sqlpipe.7`, at('share/man/man7/sqlpipe.7'));
  for (const [shell, place] of Object.entries(shared))
    cpSync(`${packed}/completions/${shell}`, at(`share/${place}`), { recursive: true });
  for (const file of ['README.md', 'GUIDE.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE', 'NOTICES.md', 'docs'])
    cpSync(`${packed}/${file}`, at(`share/doc/sqlpipe/${file}`), { recursive: true });
  cpSync(`${nodeFor(HERE)}/LICENSE`, at('share/doc/sqlpipe/LICENSE.node'));
}

/**
 * The Debian package. Debian's sqlite3 contains a sqldiff too, and dpkg rejects a file that another package has: ours is
 * only `sqlpipe diff` there, with a manual page of that name.
 */
function makeDebianPackage(executable: string, architecture: string): string {
  const folder = 'dist/debian';
  rmSync(folder, { recursive: true, force: true });
  const links = linked.filter(program => program !== 'sqldiff');
  install(`${folder}/usr`, executable, links, { ...SHARED, zsh: 'zsh/vendor-completions' });
  const pages = `${folder}/usr/share/man/man1`;
  cpSync(`${pages}/sqldiff.1`, `${pages}/sqlpipe-diff.1`);
  rmSync(`${pages}/sqldiff.1`);
  const doc = `${folder}/usr/share/doc/sqlpipe`;
  const licenses = ['LICENSE', 'NOTICES.md', 'LICENSE.node'].map(file => readFileSync(`${doc}/${file}`, 'utf8'));
  writeFileSync(`${doc}/copyright`, licenses.join('\n'));
  mkdirSync(`${folder}/DEBIAN`);
  writeFileSync(`${folder}/DEBIAN/control`, control(architecture));
  const path = `dist/sqlpipe_${debianVersion}_${architecture}.deb`;
  debianPackage(folder, path);
  rmSync(folder, { recursive: true });
  return path;
}

/** Debian sorts `1.0~rc` before `1.0`. */
const debianVersion = version.replace('-', '~');

const control = (architecture: string) => `Package: sqlpipe
Version: ${debianVersion}
Architecture: ${architecture}
Maintainer: The maintainers of sqlpipe <sqlpipe@localhost>
Section: database
Priority: optional
Depends: libc6 (>= 2.28), libstdc++6 (>= 8), libgcc-s1, libatomic1
Description: database schema as a Unix stream
 Small programs that dump, split, join, filter, sort, compare and apply the
 schema of QuestDB: sqldump, sqlapply, sqldiff (as "sqlpipe diff") and others.
 .
 The executable holds Node.js ${NODE_VERSION}.
`;

const DEBIAN: Readonly<Record<string, string>> = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' };

const work = 'dist/executable';
mkdirSync(work, { recursive: true });
const named = process.argv.slice(2);
for (const platform of named.length ? named : Object.keys(PLATFORMS)) {
  const executable = makeExecutable(work, platform);
  const folder = `dist/sqlpipe-${version}-${platform}`;
  rmSync(folder, { recursive: true, force: true });
  install(folder, executable, linked, SHARED);
  console.log(tarball(folder));
  const architecture = DEBIAN[platform];
  if (architecture) console.log(makeDebianPackage(executable, architecture));
}
rmSync(work, { recursive: true });
