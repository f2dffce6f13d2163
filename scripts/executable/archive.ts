/*! Archives of folders that are the same bytes on every machine: fixed dates, owners, modes and order. */
import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The date of all files, in seconds; npm gives this one to all that it packs (reproducible-builds.org/specs/source-date-epoch). */
const { SOURCE_DATE_EPOCH = '499162500' } = process.env;

/** The level of compression; tests have no time for more than 1. */
const { COMPRESSION = '6' } = process.env;

/** Packs a folder as a `.tar.gz`; returns its path, which is the folder's with that ending. */
export function tarball(folder: string): string {
  normalizeModes(folder);
  const path = `${folder}.tar.gz`;
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  const rest = [
    `--mtime=@${SOURCE_DATE_EPOCH}`,
    '--sort=name',
    '--format=gnu',
    `--use-compress-program=gzip -n${COMPRESSION}`,
  ];
  execFileSync('tar', ['-cf', path, ...owner, ...rest, '-C', dirname(folder), basename(folder)]);
  return path;
}

/** Packs a folder that has a `DEBIAN/control` as a package for Debian. */
export function debianPackage(folder: string, path: string): void {
  normalizeModes(folder);
  // The output of xz depends on the number of threads.
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', `-z${COMPRESSION}`, '--build', folder, path], {
    env: { ...process.env, SOURCE_DATE_EPOCH },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** Sets the modes of a folder's files to those of the usual umask, 022. */
export function normalizeModes(path: string): void {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return;
  chmodSync(path, stats.isDirectory() || stats.mode & 0o100 ? 0o755 : 0o644);
  if (stats.isDirectory()) for (const name of readdirSync(path)) normalizeModes(join(path, name));
}
