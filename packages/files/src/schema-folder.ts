/*! A folder with a file per object. Names of objects may be hostile, and not all file systems distinguish all names. */
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { collectStatements, deduplicate, dumpOrder, MemoryBudget, Schema } from '@sqlpipe/schema';
import { addToList, displayName, folderOf, identify, KINDS, redact } from '@sqlpipe/sql';
import { CodedError, formatExcerpt } from '@sqlpipe/text';
import { type LocatedStatement, parseSqlFile } from './sql-text.js';
import { STAGED, stageAndCommit, stageFile, statIfExists } from './write-output.js';

/**
 * Reads the statements of a folder that `writeFolder` wrote, in the order of a dump. Each file `*.sql` must be in the folder of its kind;
 * hidden files and folders are ignored.
 * @throws CodedError if the content of a file does not match its path, DuplicateNameError if two files define one name differently
 */
export async function readFolder(folder: string, maxLength: number): Promise<LocatedStatement[]> {
  const located = new Map<string, LocatedStatement>();
  for (const { statements, error } of (await scanFolder(folder, maxLength)).values()) {
    if (error) throw error;
    for (const each of statements) if (!located.has(each.statement)) located.set(each.statement, each);
  }
  await rejectStrayFiles(folder, maxLength);
  const entries = dumpOrder(new Schema(deduplicate(located.keys())));
  return entries.map(({ statement }) => located.get(statement) as LocatedStatement);
}

/**
 * Writes the files whose statements have changed. Removes old temporary files, and the files of objects that no longer exist. All files
 * are written under temporary names before the first is renamed. If a rename fails, some files are new and some old.
 * @throws DuplicateNameError; CodedError if a statement has no path, or a foreign file has the path of an object. Then no file of an object
 * has changed.
 */
export async function writeFolder(folder: string, statements: AsyncIterable<string>, signal?: AbortSignal) {
  const files = await filesFor(statements);
  await ensureFolder(folder);
  await ensureFolder(join(folder, folderOf('table') as string)); // even without tables, so that the folder is recognized
  const removeIfPossible = (path: string) => rm(join(folder, path)).catch(() => {}); // a remaining temporary file does no harm
  const staged = (await listPaths(folder)).filter(path => STAGED.test(path)); // left by processes that were killed
  await Promise.all(staged.map(removeIfPossible));
  const existing = await scanFolder(folder);
  for (const path of files.keys()) {
    const invalid = existing.get(path)?.error;
    const details = { cause: invalid, locatedMessages: invalid?.locatedMessages };
    if (invalid) throw new CodedError('DAMAGED', `${invalid.message}; move it away; nothing was written`, details);
  }
  const textOf = (path: string) => printFile(existing.get(path)?.statements.map(({ statement }) => statement));
  const changed = [...files].filter(([path, content]) => textOf(path) !== content);
  await stageAndCommit(changed, async ([name, content]) => {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    return stageFile(path, await statIfExists(path), async file => file.write(content), signal);
  });
  for (const [path, { error }] of existing) if (!error && !files.has(path)) await rm(join(folder, path));
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

const SUFFIX = '.sql';

/** Whether a file is read. `.SQL` files are read too, so that they can be rejected. Hidden files and folders are not read. */
const isSqlFile = (path: string): boolean =>
  path.toLowerCase().endsWith(SUFFIX) && !path.split('/').some(name => name.startsWith('.'));

/** The path of a statement's file, such as `tables/trades.sql`; undefined if there is no name, or no folder for its kind. */
function pathFor(statement: string): string | undefined {
  const { kind, name } = identify(statement);
  const folder = folderOf(kind);
  return folder && name && `${folder}/${encodeFileName(name)}${SUFFIX}`;
}

interface ScannedFile {
  statements: LocatedStatement[];
  /** Why `writeFolder` cannot have written the file. */
  error?: CodedError;
}

/** The `.sql` files in the folders for tables, views and so on. @throws CodedError if no such folder exists, or if one is not a folder */
async function scanFolder(folder: string, maxLength?: number): Promise<Map<string, ScannedFile>> {
  const files = new Map<string, ScannedFile>();
  const budget = new MemoryBudget();
  for (const path of await listPaths(folder))
    if (isSqlFile(path)) files.set(path, await scanFile(folder, path, budget, maxLength));
  return files;
}

/** Rejects a `.sql` file outside the folders of the kinds. If such a file was ignored, an object might be lost. @throws CodedError */
async function rejectStrayFiles(folder: string, maxLength?: number): Promise<void> {
  for await (const path of strayFiles(folder)) {
    const { error } = await scanFile(folder, path, new MemoryBudget(), maxLength);
    const hints = [
      'hint: if it is not part of the schema, move it out of the folder, or rename it',
      "hint: names that begin with '.' or have another suffix are ignored",
    ];
    throw new CodedError('DAMAGED', `${error?.message}`, { lines: hints, locatedMessages: error?.locatedMessages });
  }
}

/** The paths of `.sql` files outside the folders of the kinds. Links to folders are not followed. */
async function* strayFiles(folder: string, parent = ''): AsyncGenerator<string> {
  const entries = await readdir(join(folder, parent), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = `${parent}${entry.name}`;
    if (entry.isDirectory() && !entry.name.startsWith('.') && !isKindFolder(path))
      yield* strayFiles(folder, `${path}/`);
    else if (!entry.isDirectory() && isSqlFile(path)) yield path;
  }
}

const isKindFolder = (path: string): boolean => KINDS.some(kind => folderOf(kind) === path);

/** The paths of everything in the folders of the kinds, sorted, because file systems guarantee no order. */
async function listPaths(folder: string): Promise<string[]> {
  const folders = (await readdir(folder, { withFileTypes: true })).filter(({ name }) => isKindFolder(name));
  if (!folders.length)
    throw new CodedError(
      'DAMAGED',
      `${folder} contains none of the folders that sqljoin -d creates, such as tables; is it the right folder?`,
    );
  for (const entry of folders) if (!entry.isDirectory()) throw blockedFolderError(join(folder, entry.name));
  const paths: string[][] = [];
  for (const { name } of folders) {
    // Without `withFileTypes`, links would be followed.
    const entries = await readdir(join(folder, name), { recursive: true, withFileTypes: true });
    // A long name continues in a folder (`encodeFileName`). A link in its place is rejected: the files may come from an untrusted source.
    const link = entries.find(entry => entry.isSymbolicLink() && entry.name.endsWith(CONTINUED_SUFFIX));
    if (link) throw blockedFolderError(join(link.parentPath, link.name));
    paths.push(entries.map(entry => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/')));
  }
  return paths.flat().sort();
}

const blockedFolderError = (path: string): CodedError => new CodedError('DAMAGED', `${path} is not a folder`);

async function scanFile(folder: string, path: string, budget: MemoryBudget, maxLength?: number): Promise<ScannedFile> {
  const full = join(folder, path);
  const statements: LocatedStatement[] = [];
  const invalidFile = (what: string, line?: number): ScannedFile => {
    const message = `${full} ${what}`;
    const locatedMessages = [{ path: full, ...(line && { line }), message }];
    return { statements, error: new CodedError('DAMAGED', message, { locatedMessages }) };
  };
  if (!(await lstat(full)).isFile()) return invalidFile('is not a regular file');
  try {
    for await (const batch of parseSqlFile(full, maxLength))
      for (const located of batch) {
        const { statement, line } = located;
        const expectedPath = pathFor(statement);
        if (!expectedPath) return invalidFile(`contains ${formatUnmappable(statement)}`, line);
        if (expectedPath !== path)
          return invalidFile(`contains ${displayName(identify(statement))}, which belongs in ${expectedPath}`, line);
        budget.add(statement);
        statements.push(located);
      }
  } catch (error) {
    if (error instanceof CodedError && error.code === 'DAMAGED') return { statements, error };
    throw error;
  }
  return statements.length ? { statements } : invalidFile('contains no statement');
}

const formatUnmappable = (statement: string): string =>
  `a statement that creates no object: ${formatExcerpt(redact(statement), 60)}`;

const CONTINUED_SUFFIX = '~';

/**
 * Encodes the name of an object as the name of a file, without a suffix: `My|t_1` becomes `!my%7Ct_1` (A to Z as in Go's module cache,
 * other characters as UTF-8 bytes). Small letters, letters without case, digits, blanks, `_`, `-`, `$` and `.` stay where they are safe. A
 * name that is too long continues in a folder: `…~/…`. Each file name can be decoded. It stays unique even where case is ignored or Unicode
 * is normalized.
 */
function encodeFileName(name: string): string {
  const encode = (each: string) => (/^[A-Z]$/.test(each) ? `!${each.toLowerCase()}` : percentEncode(each));
  const readable = [...name].map(each => (isReadable(each) ? each : encode(each))).join('');
  // Some adjacent letters are normalized into one, such as the parts of Korean syllables.
  const isStable = readable.normalize('NFKC') === readable;
  const encoded = isStable ? readable : readable.replace(/[^\0-\x7f]/gu, percentEncode);
  // The first character may be unsafe: `-x` looks like an option, `.x` is hidden, ` x` loses its blank, `con` is a device on Windows.
  const unsafe = /^[-. ]|^(?=(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$) *(?:\.|$))./;
  return splitByLength(encoded)
    .map(piece => piece.replace(unsafe, percentEncode).replace(/ $/, percentEncode))
    .join(`${CONTINUED_SUFFIX}/`);
}

function isReadable(character: string): boolean {
  // Letters that have no case or are lower case, digits, blanks, and plain punctuation; not what file systems may ignore
  const isPlain =
    /^[\p{Ll}\p{Lo}\p{Lm}\p{Nd} _$.-]$/u.test(character) && !/\p{Default_Ignorable_Code_Point}/u.test(character);
  if (!isPlain || character.normalize('NFKC') !== character) return false;
  return character.toLowerCase() === character && character.toUpperCase().toLowerCase() === character; // ß might be equal to ss
}

function splitByLength(text: string): string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const character of text) {
    // File systems accept 255 bytes, but a suffix may be added to a piece.
    if (Buffer.byteLength(piece + character) > 200) {
      pieces.push(piece);
      piece = '';
    }
    piece += character;
  }
  return piece ? [...pieces, piece] : pieces;
}

const percentEncode = (character: string): string =>
  Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&');
