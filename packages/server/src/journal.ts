/*!
 * The schema on disk: one line of JSON with the entries of each statement, synced before it is acknowledged. A line has a hash of
 * its entries, because the engine restores them without checks. At the start, and when the journal has grown to more than twice its initial
 * size, the complete state is written to a new file, which replaces the old one.
 */
import { once } from 'node:events';
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { platform } from 'node:os';
import { dirname, join } from 'node:path';
import type { Engine, JournalEntry } from '@sqlpipe/engine';
import { CodedError } from '@sqlpipe/text';
import { digest } from './secrets.js';

export class Journal {
  private constructor(
    readonly path: string,
    /** Holds the lock on the folder until it is closed; undefined if the system has no such locks. */
    readonly lock: Server | undefined,
    readonly engine: Engine,
    private file: OpenJournal,
  ) {}

  /** Whether the folder must be synced before the next write: only then has a new file surely replaced the old one. */
  #mustSyncFolder = false;

  /** Whether the file may end with entries that could not be stored completely: no line may follow an incomplete one. */
  #hasFailedEnd = false;

  /**
   * Restores the entries of a folder, or calls `begin` if there are none, and writes the state as the new journal. On Linux, no other
   * sqlserve can open the folder until this journal is closed.
   */
  static async open(folder: string, engine: Engine, begin: () => Promise<void>): Promise<Journal> {
    await makeFolder(folder);
    const lock = await lockFolder(folder);
    try {
      const path = join(folder, 'journal.jsonl');
      const entries = await readEntries(path);
      for (const entry of entries) engine.restore(entry);
      if (entries.length === 0) await begin();
      const file = await rewriteJournal(path, engine.snapshot());
      await syncFolder(folder);
      return new Journal(path, lock, engine, file);
    } catch (error) {
      lock?.close();
      throw error;
    }
  }

  /**
   * Must not be called concurrently. After a crash, all entries of a statement are there, or none. A write that fails is undone at once;
   * if that fails too, before the next write.
   */
  async append(entries: readonly JournalEntry[]): Promise<void> {
    if (this.#mustSyncFolder) await syncFolder(dirname(this.path));
    this.#mustSyncFolder = false;
    if (this.#hasFailedEnd) await this.#removeFailedEnd();
    const { file } = this;
    const bytes = Buffer.from(formatLine(entries));
    try {
      await file.handle.appendFile(bytes);
      await file.handle.datasync();
    } catch (error) {
      this.#hasFailedEnd = true;
      await this.#removeFailedEnd().catch(() => {});
      throw error;
    }
    file.size += bytes.length;
    if (file.size >= 2 * file.initialSize + 4 * 1024 * 1024) await this.#compact();
  }

  async #removeFailedEnd(): Promise<void> {
    await this.file.handle.truncate(this.file.size);
    this.#hasFailedEnd = false;
  }

  async #compact(): Promise<void> {
    const old = this.file;
    try {
      this.file = await rewriteJournal(this.path, this.engine.snapshot());
    } catch {
      old.initialSize = old.size; // The old journal is intact: it stays in use, and is rewritten at twice this size.
      return;
    }
    // From here on no error may reject the changes: both files have them.
    this.#mustSyncFolder = true;
    await old.handle.close().catch(() => {});
  }

  async close(): Promise<void> {
    await this.file.handle.close();
    this.lock?.close();
  }
}

interface OpenJournal {
  readonly handle: FileHandle;
  initialSize: number;
  size: number;
}

/**
 * Other users who can write to the folder may have put a link at the new path. So an existing file is never opened: the file is created,
 * readable only by its owner.
 */
async function rewriteJournal(path: string, state: readonly JournalEntry[]): Promise<OpenJournal> {
  const newPath = `${path}.new`;
  await rm(newPath, { force: true });
  const handle = await open(newPath, 'ax', 0o600);
  try {
    for (let start = 0; start < state.length; start += 1000) {
      const lines = state.slice(start, start + 1000).map(entry => formatLine([entry]));
      await handle.appendFile(lines.join(''));
    }
    await handle.sync();
    const { size } = await handle.stat();
    await rename(newPath, path);
    return { handle, initialSize: size, size };
  } catch (error) {
    await handle.close();
    await rm(newPath, { force: true });
    throw error;
  }
}

export function formatLine(entries: readonly JournalEntry[]): string {
  const text = JSON.stringify(entries);
  return `{"entries":${text},"sha256":"${hashEntries(text)}"}\n`;
}

const LINE = /^\{"entries":(.*),"sha256":"(.*)"\}$/s;

/** Raise it when the engine can no longer restore the entries of older versions: then they count as damaged. */
const FORMAT_VERSION = 2;

const hashEntries = (text: string): string => digest(`${FORMAT_VERSION} ${text}`);

/** Only for its owner. `mkdir` with `recursive` never returns where not even root may create a folder, as in /proc. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await mkdir(path, 0o700);
  }
}

async function readEntries(path: string): Promise<JournalEntry[]> {
  const lines = (await readRegular(path)).split('\n').slice(0, -1); // a last line without LF was not acknowledged
  return lines.flatMap((line, i): JournalEntry[] => {
    const [, text = '', hash] = LINE.exec(line) ?? [];
    if (hash === hashEntries(text)) return JSON.parse(text);
    throw new CodedError('DAMAGED', `${path}: line ${i + 1} is damaged; restore the folder from a copy`);
  });
}

/** The text of a file; '' if there is none. @throws CodedError for a link, a pipe and the like, which sqlserve never creates */
async function readRegular(path: string): Promise<string> {
  try {
    const stats = await lstat(path);
    if (!stats.isFile())
      throw new CodedError('DAMAGED', `${path} is not a regular file; restore the folder from a copy`);
    return await readFile(path, { encoding: 'utf8', flag: constants.O_RDONLY | constants.O_NOFOLLOW });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return '';
  }
}

/** A rename is durable only after the folder is synced. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await folder.sync();
  await folder.close();
}

/**
 * Node has no file locks, and a lock file outlives a killed process. So the lock is a socket in Linux's abstract namespace, whose name the
 * kernel gives to one process. On other systems, and between containers with separate networks, nothing is locked.
 */
async function lockFolder(folder: string): Promise<Server | undefined> {
  if (platform() !== 'linux') return;
  const { dev, ino } = await stat(folder);
  const lock = createServer().unref();
  try {
    await once(lock.listen(`\0sqlserve-${dev}-${ino}`), 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new CodedError('IO', `${folder} is in use by another sqlserve; end that one, or choose another folder`);
  }
  return lock;
}
