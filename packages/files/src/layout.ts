/*! A schema as files: which file of a folder a statement belongs in, and what is in that folder now. */
import { createReadStream } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { MemoryBudget } from '@sqlpipe/schema';
import { displayName, identify, type Kind, redact, truncate } from '@sqlpipe/sql';
import { CONTINUED_SUFFIX, fileName, legacyFileName } from './file-name.js';
import { parseLocatedText, TextError } from './text.js';
import { isStaged } from './write-file.js';

/** Something about a folder that keeps a schema from being read from it or written to it. */
export class FolderError extends Error {
  override name = 'FolderError';
  readonly code = 'DAMAGED';
}

/** Where the files of each kind are. What makes no object has no place. */
export const FOLDERS: Partial<Record<Kind, string>> = {
  user: 'users',
  group: 'groups',
  'service-account': 'service_accounts',
  table: 'tables',
  view: 'views',
  matview: 'materialized_views',
  liveview: 'live_views',
  membership: 'memberships',
  assumption: 'assumptions',
  grant: 'grants',
};

const SUFFIX = '.sql';

/** The path of a statement's file within a folder, such as `tables/trades.sql`; undefined for what has no name. */
export const pathFor = (statement: string): string | undefined => pathWith(fileName, statement);

function pathWith(nameFile: (name: string) => string, statement: string): string | undefined {
  const { kind, name } = identify(statement);
  const folder = FOLDERS[kind];
  return folder && name && `${folder}/${nameFile(name)}${SUFFIX}`;
}

/** Whether a statement's file is, or was in an earlier version, at a path. */
const belongsAt = (path: string, statement: string): boolean =>
  pathFor(statement) === path || pathWith(legacyFileName, statement) === path;

/** A `.sql` file in one of the folders. */
export interface ScannedFile {
  statements: string[];
  /** The lines that they start on. */
  lines: number[];
  /** Why it is not a file that `writeFolder` wrote, if so, in a sentence with its path. */
  invalidReason?: string;
}

/**
 * The files called `*.sql` below the folders of the kinds by their paths; nothing else that is there is looked at.
 * @throws FolderError where there is none of the folders or something else in its place, and errors of the file system
 */
export async function scanFolder(folder: string, maxLength?: number): Promise<Map<string, ScannedFile>> {
  const found = new Map<string, ScannedFile>();
  const room = new MemoryBudget();
  for (const path of await listPaths(folder))
    if (path.endsWith(SUFFIX) && !basename(path).startsWith('.'))
      found.set(path, await scanFile(folder, path, room, maxLength));
  return found;
}

/** The paths of what writers that were killed have left. @throws as `scanFolder` */
export const staleTempFiles = async (folder: string): Promise<string[]> => (await listPaths(folder)).filter(isStaged);

/** Everything below the folders of the kinds, sorted, because file systems guarantee no order. */
async function listPaths(folder: string): Promise<string[]> {
  const there = await readdir(folder, { withFileTypes: true });
  const folders = there.filter(({ name }) => Object.values(FOLDERS).includes(name));
  if (!folders.length)
    throw new FolderError(
      `${folder} contains none of the folders that sqljoin -d creates, such as tables; is it the right folder?`,
    );
  for (const entry of folders) if (!entry.isDirectory()) throw blockedFolderError(join(folder, entry.name));
  const below = await Promise.all(folders.map(({ name }) => listInside(folder, name)));
  return below.flat().sort();
}

/**
 * The paths of what is in one of the folders. Links are rejected: they could lead anywhere, and a folder may come from
 * an untrusted source.
 */
async function listInside(folder: string, name: string): Promise<string[]> {
  // Without the types links are followed.
  const entries = await readdir(join(folder, name), { recursive: true, withFileTypes: true });
  const link = entries.find(entry => entry.isSymbolicLink() && entry.name.endsWith(CONTINUED_SUFFIX));
  if (link) throw blockedFolderError(join(link.parentPath, link.name));
  return entries.map(entry => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'));
}

const blockedFolderError = (path: string): FolderError => new FolderError(`${path} is not a folder`);

async function scanFile(folder: string, path: string, room: MemoryBudget, maxLength?: number): Promise<ScannedFile> {
  const full = join(folder, path);
  const statements: string[] = [];
  const lines: number[] = [];
  const found = { statements, lines };
  if (!(await lstat(full)).isFile()) return { ...found, invalidReason: `${full} is not a regular file` };
  try {
    for await (const batch of parseLocatedText(createReadStream(full), full, maxLength))
      for (const { statement, line = 1 } of batch) {
        room.add(statement);
        statements.push(statement);
        lines.push(line);
      }
  } catch (error) {
    if (error instanceof TextError) return { ...found, invalidReason: error.message };
    throw error;
  }
  const other = statements.find(statement => !belongsAt(path, statement));
  if (other) return { ...found, invalidReason: `${full} contains ${describeMisplaced(other)}` };
  return statements.length ? found : { ...found, invalidReason: `${full} contains no statement` };
}

function describeMisplaced(statement: string): string {
  const place = pathFor(statement);
  return place ? `${displayName(identify(statement))}, which belongs in ${place}` : describeUnmappable(statement);
}

/** Says of a statement that has no place what it is. */
export const describeUnmappable = (statement: string): string =>
  `a statement that creates no object: ${truncate(redact(statement), 60)}`;
