import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { collectStatements, deduplicate, dumpOrder, Schema } from '@sqlpipe/schema';
import { addToList, folderOf } from '@sqlpipe/sql';
import { CodedError } from '@sqlpipe/text';
import { formatUnmappable, pathFor, rejectStrayFiles, scanFolder, staleTempFiles } from './folder-layout.js';
import type { LocatedStatement } from './sql-text.js';
import { stageAndCommit, stageFile, statIfExists } from './write-file.js';

/**
 * Reads the statements of a folder that `writeFolder` wrote, in the order of a dump. Each file `*.sql` must be in the folder of its kind;
 * hidden files and folders are ignored.
 * @throws CodedError if the content of a file does not match its path, DuplicateNameError if two files define one name differently
 */
export async function readFolder(folder: string, maxLength: number): Promise<LocatedStatement[]> {
  const located = new Map<string, LocatedStatement>();
  for (const { statements, invalid } of (await scanFolder(folder, maxLength)).values()) {
    if (invalid) throw invalid;
    for (const each of statements) if (!located.has(each.statement)) located.set(each.statement, each);
  }
  await rejectStrayFiles(folder, maxLength);
  const entries = dumpOrder(new Schema(deduplicate(located.keys())));
  return entries.map(({ statement }) => located.get(statement) as LocatedStatement);
}

/**
 * Writes the files whose statements have changed, and removes the files of other objects; other files are not touched. All files are
 * written under temporary names before the first is renamed. If a rename fails, some files are new and some old.
 * @throws DuplicateNameError; CodedError if a statement has no path, or another file has the path of an object; nothing has changed then
 */
export async function writeFolder(
  folder: string,
  statements: AsyncIterable<string>,
  interrupted?: AbortSignal,
): Promise<void> {
  const files = await filesFor(statements);
  await ensureFolder(folder);
  await ensureFolder(join(folder, folderOf('table') as string)); // even without tables, so that the folder is recognized
  const removeIfPossible = (path: string) => rm(join(folder, path)).catch(() => {}); // a remaining temporary file does no harm
  await Promise.all((await staleTempFiles(folder)).map(removeIfPossible));
  const existing = await scanFolder(folder);
  for (const path of files.keys()) {
    const invalid = existing.get(path)?.invalid;
    if (invalid) throw new CodedError('DAMAGED', `${invalid.message}; move it away; nothing was written`, invalid);
  }
  const textOf = (path: string) => printFile(existing.get(path)?.statements.map(({ statement }) => statement));
  const changed = [...files].filter(([path, content]) => textOf(path) !== content);
  await stageAndCommit(changed, async ([name, content]) => {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    return stageFile(path, await statIfExists(path), async file => file.write(content), interrupted);
  });
  for (const [path, { invalid }] of existing) if (!invalid && !files.has(path)) await rm(join(folder, path));
}

/** Creates a folder, but not its parents, so that a misspelled path creates no tree of folders. */
const ensureFolder = (path: string): Promise<void> =>
  mkdir(path).catch(error => {
    if (error.code !== 'EEXIST') throw error;
  });

async function filesFor(statements: AsyncIterable<string>): Promise<Map<string, string>> {
  const files = new Map<string, string[]>();
  for (const statement of deduplicate(await collectStatements(statements))) {
    const path = pathFor(statement);
    if (!path)
      throw new CodedError(
        'REJECTED',
        `no file for ${formatUnmappable(statement)}; sqlgrep -v --kind other leaves it out`,
      );
    addToList(files, path, statement);
  }
  return new Map(Array.from(files, ([path, content]) => [path, printFile(content)]));
}

const printFile = (statements: string[] = []): string => `${statements.join('\n\n')}\n`;
