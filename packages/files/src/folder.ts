/*!
 * A schema as a folder with a file per object, for git. A file is ours if it is where its statements belong; whatever else
 * is in the folder stays as it is, and is in nobody's way unless it takes the place of an object.
 */
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Catalog, collect, deduplicate, dumpOrder } from '@sqlpipe/schema';
import { FOLDERS, FolderError, leftovers, noPlace, placeOf, scan } from './layout.js';
import { type Staged, stageFile } from './replace.js';
import type { Located } from './text.js';

/** A statement that makes no object, and so has no file. */
export class NoPlace extends Error {
  readonly code = 'REFUSED';
}

/**
 * The statements in a folder that `writeFolder` wrote, in the order of a dump. Only files called
 * `*.sql` below the folders of the kinds are looked at.
 *
 * @param maxLength the longest statement, in UTF-16 code units
 * @throws FolderError where a file holds something else than its name says, DuplicateNameError where two files make one name
 */
export async function readFolder(folder: string, maxLength?: number): Promise<string[]> {
  return (await locateFolder(folder, maxLength)).map(({ statement }) => statement);
}

/** As `readFolder`, each statement with its file and line. @throws as `readFolder` */
export async function locateFolder(folder: string, maxLength?: number): Promise<Located[]> {
  const places = new Map<string, Located>();
  for (const [name, { statements, lines, foreign }] of await scan(folder, maxLength)) {
    if (foreign) throw new FolderError(foreign);
    const path = join(folder, name);
    for (const [i, statement] of statements.entries())
      if (!places.has(statement)) places.set(statement, { statement, path, line: lines[i] as number });
  }
  const entries = dumpOrder(new Catalog(deduplicate(places.keys())));
  return entries.map(({ statement }) => places.get(statement) as Located);
}

/**
 * Makes a folder hold these statements: writes the files that differ and removes those whose object is gone. What is
 * the same or not ours is not touched. All files are on the disk before the first takes its place; from then on a failure
 * leaves some new and some old. What an earlier call left that was killed is removed.
 *
 * @throws NoPlace, DuplicateNameError; FolderError where something is in the way: then nothing has changed
 */
export async function writeFolder(
  folder: string,
  statements: AsyncIterable<string>,
  interrupted?: AbortSignal,
): Promise<void> {
  const wanted = await filesFor(statements);
  await ensureFolder(folder);
  await ensureFolder(join(folder, FOLDERS.table as string)); // even for no tables: a mark of such a folder
  const away = (path: string) => rm(join(folder, path)).catch(() => {}); // what can not go does no harm
  await Promise.all((await leftovers(folder)).map(away));
  const found = await scan(folder);
  for (const path of wanted.keys()) {
    const { foreign } = found.get(path) ?? {};
    if (foreign) throw new FolderError(`${foreign}; it is in the way, and nothing was written`);
  }
  await replaceAll(
    folder,
    [...wanted].filter(([path, content]) => contentOf(found.get(path)?.statements) !== content),
    interrupted,
  );
  for (const [path, { foreign }] of found) if (!foreign && !wanted.has(path)) await rm(join(folder, path));
}

/** Makes a folder where there is none, in one that is there: a path that is misspelt makes no tree of folders. */
async function ensureFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** The content of each file by its path. */
async function filesFor(statements: AsyncIterable<string>): Promise<Map<string, string>> {
  const files = new Map<string, string[]>();
  for (const statement of deduplicate(await collect(statements))) {
    const place = placeOf(statement);
    if (!place) throw new NoPlace(`there is no file for ${noPlace(statement)}: sqlgrep -v --kind other leaves it out`);
    const own = files.get(place);
    if (own) own.push(statement);
    else files.set(place, [statement]);
  }
  return new Map(Array.from(files, ([path, own]) => [path, contentOf(own)]));
}

/** Statements as the text of one file: a blank line between them, none at the end. */
const contentOf = (statements: string[] = []): string => `${statements.join('\n\n')}\n`;

async function replaceAll(
  folder: string,
  files: [path: string, content: string][],
  interrupted?: AbortSignal,
): Promise<void> {
  const staged: Staged[] = [];
  try {
    for (const [path, content] of files) {
      await mkdir(join(folder, dirname(path)), { recursive: true });
      staged.push(await stageFile(join(folder, path), async file => file.write(content), interrupted));
    }
    for (const file of staged) await file.commit();
  } catch (error) {
    await Promise.all(staged.map(file => file.discard()));
    throw error;
  }
}
