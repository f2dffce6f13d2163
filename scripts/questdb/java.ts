/*! What Java needs to run QuestDB: the jar, through Maven, and an archive of its classes. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The version that most tests use. */
export const DEFAULT_VERSION = '9.3.4';

const CACHE = resolve('.cache');

/** The path of a version's jar. Maven first copies it into another folder, so that an incomplete jar is never found. */
export function fetchJar(version: string): string {
  const path = join(CACHE, `questdb-${version}.jar`);
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'maven-'));
  try {
    const copy = ['dependency:copy', `-Dartifact=org.questdb:questdb:${version}`, `-DoutputDirectory=${folder}`];
    execFileSync('mvn', ['--quiet', '--batch-mode', ...copy], { cwd: folder, stdio: ['ignore', 2, 2] });
    renameSync(join(folder, `questdb-${version}.jar`), path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return path;
}

/**
 * The classes that a server of a version loads at its start, as an archive that Java maps into memory. Java ignores an archive
 * that another Java has made.
 */
export const classArchive = (version: string): string => join(CACHE, `questdb-${version}.jsa`);

/** What a failure to start java or Maven means. */
export function formatMissing(error: unknown): string {
  const { code, path, message } = error as NodeJS.ErrnoException;
  const isMissing = code === 'ENOENT' && (path === 'java' || path === 'mvn');
  return isMissing ? `${path} is not on the PATH: install Java 17 or later and Maven` : message;
}
