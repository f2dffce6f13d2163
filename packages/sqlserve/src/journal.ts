/*!
 * The catalogue on disk: a line of JSON for what each statement changed, synced before the statement is acknowledged.
 * After a crash the last line may be half there; it was never acknowledged, so it is dropped. A start writes the whole
 * state anew, beside the old file and then in its place.
 */
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises';
import type { Server } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Change } from './catalogue.js';
import { lockFolder } from './lock.js';

/** A journal that cannot be read. */
export class JournalError extends Error {
  readonly code = 'DAMAGED';
}

/** What a journal is opened with. */
export interface Opening {
  replay(change: Change): void;
  begin(): Promise<void>;
  state(): Change[];
}

export class Journal {
  #pending: { line: string; done: () => void; fail: (error: unknown) => void }[] = [];
  #writing = false;

  private constructor(
    readonly file: FileHandle,
    readonly lock: Server | undefined,
  ) {}

  /**
   * Opens the journal of a folder, made if it is not there. Each change in it is given to `replay`, or `begin` is called
   * where there is none; what `state` then says is written as the new journal. No other service can open the folder
   * until this one is closed.
   */
  static async open(folder: string, { replay, begin, state }: Opening): Promise<Journal> {
    await makeFolder(folder);
    const lock = await lockFolder(folder);
    const path = join(folder, 'journal.jsonl');
    let empty = true;
    await read(path, change => {
      empty = false;
      replay(change);
    });
    if (empty) await begin();
    const fresh = `${path}.new`;
    const file = await open(fresh, 'w');
    await file.writeFile(
      state()
        .map(change => `${JSON.stringify([change])}\n`)
        .join(''),
    );
    await file.sync();
    await rename(fresh, path);
    await syncFolder(folder);
    return new Journal(file, lock);
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
        await this.file.writeFile(batch.map(({ line }) => line).join(''));
        await this.file.datasync();
        for (const { done } of batch) done();
      } catch (error) {
        for (const { fail } of batch) fail(error);
      }
    }
    this.#writing = false;
  }

  async close(): Promise<void> {
    await this.file.close();
    this.lock?.close();
  }
}

/** A folder and those above it. Node's own `recursive` never ends where the system lets nobody make one, as in /proc. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await mkdir(path);
  }
}

/** Gives every change to `replay`, but for a last line that is not whole. */
async function read(path: string, replay: (change: Change) => void): Promise<void> {
  let torn: { line: string; number: number } | undefined;
  let number = 0;
  try {
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
      number++;
      if (torn) throw new JournalError(`${path}: line ${torn.number} is damaged; restore the folder from a copy`);
      const changes = parse(line);
      if (changes) changes.forEach(replay);
      else torn = { line, number };
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function parse(line: string): Change[] | undefined {
  try {
    const changes: unknown = JSON.parse(line);
    return Array.isArray(changes) ? (changes as Change[]) : undefined;
  } catch {
    return;
  }
}

/** A rename is safe when the folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await folder.sync();
  await folder.close();
}
