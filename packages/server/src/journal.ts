/*!
 * The schema on disk: one line of JSON with the entries of each statement, synced before it is acknowledged. A line has a hash of
 * its entries, because the engine restores them without checks. At the start, and when the journal has grown to more than twice its initial
 * size, the complete state is written to a new file, which replaces the old one.
 */
import { once } from 'node:events';
import { constants, existsSync, lstatSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { platform } from 'node:os';
import { dirname, join } from 'node:path';
import type { Engine, JournalEntry } from '@sqlpipe/engine';
import { CodedError } from '@sqlpipe/text';
import { digest } from './secrets.js';

export type Journal = Awaited<ReturnType<typeof openJournal>>;

/**
 * Restores the entries of a folder, or calls `begin` if there are none, and writes the state as the new journal. On Linux, no other
 * sqlserve can open the folder until this journal is closed.
 */
export async function openJournal(folder: string, engine: Engine, begin: () => Promise<void>) {
  await makeFolder(folder);
  const lock = await lockFolder(folder);
  const path = join(folder, 'journal.jsonl');
  let file: Awaited<ReturnType<typeof rewriteJournal>>;
  try {
    const entries = await readEntries(path);
    for (const entry of entries) engine.restore(entry);
    if (entries.length === 0) await begin();
    file = await rewriteJournal(path, engine.snapshot());
    await syncFolder(folder).catch(async error => {
      await file.handle.close();
      throw error;
    });
  } catch (error) {
    lock?.close();
    throw error;
  }
  /** What must succeed before the next write. */
  let catchUp = async () => {};

  async function compact(): Promise<void> {
    const old = file;
    try {
      file = await rewriteJournal(path, engine.snapshot());
    } catch {
      old.initialSize = old.size; // The old journal is intact: it stays in use, and is rewritten at twice this size.
      return;
    }
    // From here on no error may reject the changes: both files have them. Which one a crash leaves is certain after the next sync.
    catchUp = () => syncFolder(folder);
    await old.handle.close().catch(() => {});
  }

  return {
    /**
     * Must not be called concurrently. After a crash, all entries of a statement are there, or none. A write that fails is undone at once;
     * if that fails too, before the next write.
     */
    async append(entries: readonly JournalEntry[]): Promise<void> {
      await catchUp();
      catchUp = async () => {};
      const bytes = Buffer.from(formatLine(entries));
      try {
        await file.handle.appendFile(bytes);
        await file.handle.datasync();
      } catch (error) {
        catchUp = () => file.handle.truncate(file.size); // no line may follow an incomplete one
        await catchUp().catch(() => {});
        throw error;
      }
      file.size += bytes.length;
      if (file.size >= 2 * file.initialSize + 4 * 1024 * 1024) await compact();
    },
    async close(): Promise<void> {
      await file.handle.close().finally(() => lock?.close());
    },
  };
}

/**
 * Other users who can write to the folder may have put a link at the new path. So an existing file is never opened: the file is created,
 * readable only by its owner.
 */
async function rewriteJournal(path: string, state: readonly JournalEntry[]) {
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
  if (existsSync(path)) return;
  await makeFolder(dirname(path));
  await mkdir(path, 0o700);
}

/** The entries of a journal; none if there is no file. @throws CodedError for a link, a pipe and the like, which sqlserve never creates */
async function readEntries(path: string): Promise<JournalEntry[]> {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  if (!stats.isFile()) throw new CodedError('DAMAGED', `${path} is not a regular file; restore the folder from a copy`);
  const text = await readFile(path, { encoding: 'utf8', flag: constants.O_RDONLY | constants.O_NOFOLLOW });
  const lines = text.split('\n').slice(0, -1); // a last line without LF was not acknowledged
  return lines.flatMap((line, i): JournalEntry[] => {
    const [, text = '', hash] = LINE.exec(line) ?? [];
    if (hash === hashEntries(text)) return JSON.parse(text);
    throw new CodedError('DAMAGED', `${path}: line ${i + 1} is damaged; restore the folder from a copy`);
  });
}

/** A rename is durable only after the folder is synced. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await folder.sync().finally(() => folder.close());
}

/**
 * Node has no file locks, and a lock file outlives a killed process. So the lock is a socket in Linux's abstract namespace, whose name the
 * kernel gives to one process. On other systems, and between containers with separate networks, nothing is locked.
 */
async function lockFolder(folder: string): Promise<Server | undefined> {
  if (platform() !== 'linux') return;
  const { dev, ino } = await stat(folder);
  const lock = createServer().unref();
  await once(lock.listen(`\0sqlserve-${dev}-${ino}`), 'listening').catch(error => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new CodedError('IO', `${folder} is in use by another sqlserve; end that one, or choose another folder`);
  });
  return lock;
}
