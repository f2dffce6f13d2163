import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import split2 from 'split2';

/**
 * Reads all statements before it resolves; a large input goes to a temporary file. The file is unlinked before its first byte is written,
 * so it disappears however the program ends.
 * @returns the statements. They can be read once more, and until then, or until `close()`, the file may be open.
 */
export async function spool(input: AsyncIterable<string>) {
  let buffered: string[] = [];
  let size = 0;
  let count = 0;
  let file: FileHandle | undefined;
  try {
    for await (const statement of input) {
      count++;
      buffered.push(statement);
      size += statement.length;
      if (size < 4 * 1024 * 1024) continue;
      if (!file) {
        const path = join(tmpdir(), `sqlpipe-${Math.random().toString(36).slice(2)}`);
        file = await open(path, 'wx+', 0o600);
        await unlink(path);
      }
      await file.writeFile(buffered.map(statement => `${statement}\0`).join(''));
      buffered = [];
      size = 0;
    }
  } catch (error) {
    await file?.close();
    throw error;
  }
  let reader: Readable | undefined;
  return {
    count,
    async *[Symbol.asyncIterator]() {
      reader = file?.createReadStream({ start: 0 });
      if (reader) yield* pipeline(reader, split2('\0'), () => {}) as AsyncIterable<string>;
      yield* buffered;
    },
    async close() {
      reader?.destroy();
      await file?.close();
    },
  };
}

/** Statements that can be awaited before they are read. */
export interface DeferredInput extends AsyncIterable<string> {
  /** Resolves when all statements have arrived. Rejects with the error of their source. */
  readAll(): Promise<unknown>;
}

/**
 * Defers a source of statements: `readAll()` or the first read opens it. It can be read once.
 * A program that prompts at the terminal first waits for the programs before it in the pipe, because they may prompt too. When a Node
 * process ends, it restores the terminal's mode, and the answer to another program's prompt would be echoed.
 */
export function deferInput(open: () => AsyncIterable<string>): DeferredInput {
  let all: ReturnType<typeof spool> | undefined;
  return {
    readAll() {
      all ??= spool(open());
      return all;
    },
    async *[Symbol.asyncIterator]() {
      yield* (await all) ?? open();
    },
  };
}
