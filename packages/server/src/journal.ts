/*!
 * The catalog on disk: a line of JSON for what each statement changed, synced before the statement is acknowledged.
 * After a crash the last line may be half there; it was never acknowledged, so it is dropped. At the start, and when
 * the journal has grown to more than twice its size, the complete state is written to a new file, which then replaces
 * the old one.
 */
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import type { Server } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { lockFolder } from './lock.js';
import type { Change } from './server-catalog.js';

/** A journal that cannot be read. */
export class JournalError extends Error {
  override name = 'JournalError';
  readonly code = 'DAMAGED';
}

/** What a journal is opened with. */
export interface JournalOptions {
  replay(change: Change): void;
  begin(): Promise<void>;
  state(): Change[];
}

export class Journal {
  #pending: { line: string; done: () => void; fail: (error: unknown) => void }[] = [];
  #writing = false;

  private constructor(
    readonly path: string,
    readonly lock: Server | undefined,
    readonly state: () => readonly Change[],
    private file: OpenJournal,
  ) {}

  /**
   * Opens the journal of a folder, made if it is not there. Each change in it is given to `replay`, or `begin` is called
   * where there is none; what `state` then says is written as the new journal. No other service can open the folder
   * until this one is closed.
   */
  static async open(folder: string, { replay, begin, state }: JournalOptions): Promise<Journal> {
    await makeFolder(folder);
    const lock = await lockFolder(folder);
    const path = join(folder, 'journal.jsonl');
    let empty = true;
    await read(path, change => {
      empty = false;
      replay(change);
    });
    if (empty) await begin();
    const file = await rewriteJournal(path, state());
    await syncFolder(folder);
    return new Journal(path, lock, state, file);
  }

  /** Resolves when the changes of one statement are on disk, all of them or, after a crash, none. */
  append(changes: readonly Change[]): Promise<void> {
    return new Promise((done, fail) => {
      this.#pending.push({ line: `${JSON.stringify(changes)}\n`, done, fail });
      if (!this.#writing) void this.#write();
    });
  }

  /** Whatever waits is written and synced together: connections share the price of a sync. */
  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      try {
        await this.#commit(batch.map(({ line }) => line).join(''));
        for (const { done } of batch) done();
      } catch (error) {
        for (const { fail } of batch) fail(error);
      }
    }
    this.#writing = false;
  }

  /** A write that failed in the middle is undone, as nothing after half a line can be read. */
  async #commit(lines: string): Promise<void> {
    const { file } = this;
    const bytes = Buffer.from(lines);
    try {
      await writeAt(file.handle, bytes, file.size);
      await file.handle.datasync();
    } catch (error) {
      await file.handle.truncate(file.size);
      throw error;
    }
    file.size += bytes.length;
    if (file.size >= 2 * file.initialSize + COMPACTION_SLACK) await this.#compact();
  }

  /** All that was executed is in the state, also what still waits to be written: to do it again changes nothing. */
  async #compact(): Promise<void> {
    const old = this.file;
    try {
      this.file = await rewriteJournal(this.path, this.state());
    } catch {
      old.initialSize = old.size; // It grows on, as nothing is wrong with it, and is tried again later.
      return;
    }
    await old.handle.close();
    await syncFolder(dirname(this.path));
  }

  async close(): Promise<void> {
    await this.file.handle.close();
    this.lock?.close();
  }
}

/** How much longer than twice the state a journal gets before it is rewritten. */
const COMPACTION_SLACK = 4 * 1024 * 1024;

/** A journal that is being written, and where its last whole line ends. */
interface OpenJournal {
  readonly handle: FileHandle;
  initialSize: number;
  size: number;
}

/**
 * Writes a new journal, which then replaces the old one. Who else can write to the folder may have put a link there
 * for us to follow: the file is made by us, for us alone.
 */
async function rewriteJournal(path: string, state: readonly Change[]): Promise<OpenJournal> {
  const fresh = `${path}.new`;
  await rm(fresh, { force: true });
  const handle = await open(fresh, 'wx', 0o600);
  try {
    const size = await writeState(handle, state);
    await rename(fresh, path);
    return { handle, initialSize: size, size };
  } catch (error) {
    await handle.close();
    await rm(fresh, { force: true });
    throw error;
  }
}

async function writeState(handle: FileHandle, state: readonly Change[]): Promise<number> {
  let size = 0;
  for (let start = 0; start < state.length; start += 1000) {
    const lines = state.slice(start, start + 1000).map(change => `${JSON.stringify([change])}\n`);
    const bytes = Buffer.from(lines.join(''));
    await writeAt(handle, bytes, size);
    size += bytes.length;
  }
  await handle.sync();
  return size;
}

async function writeAt(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

/**
 * A folder and those above it, for nobody else where they are made. Node's own `recursive` never ends where the system
 * lets nobody make one, as in /proc.
 */
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

/** Gives every change to `replay`, but for a last line that is not whole. */
async function read(path: string, replay: (change: Change) => void): Promise<void> {
  const file = await openRegular(path);
  if (!file) return;
  let torn: number | undefined;
  let number = 0;
  for await (const line of createInterface({ input: file.createReadStream(), crlfDelay: Number.POSITIVE_INFINITY })) {
    number++;
    if (torn) throw new JournalError(`${path}: line ${torn} is damaged; restore the folder from a copy`);
    const changes = parse(line);
    if (changes) changes.forEach(replay);
    else torn = number;
  }
}

/** Undefined where there is none. @throws JournalError for a link, a pipe and the like, which we never made */
async function openRegular(path: string): Promise<FileHandle | undefined> {
  try {
    const found = await lstat(path);
    if (!found.isFile()) throw new JournalError(`${path} is not a regular file; restore the folder from a copy`);
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return;
  }
}

function parse(line: string): Change[] | undefined {
  try {
    const changes: unknown = JSON.parse(line);
    return Array.isArray(changes) && changes.every(isChange) ? (changes as Change[]) : undefined;
  } catch {
    return;
  }
}

const isChange = (change: unknown): boolean =>
  typeof change === 'object' && change !== null && ['put', 'drop', 'clear', 'acl'].some(step => step in change);

/** A rename is safe when the folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await folder.sync();
  await folder.close();
}
