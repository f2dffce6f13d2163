import { open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import split2 from 'split2';

/** The maximum size of the text in memory, in UTF-16 code units; more is written to a temporary file. */
const MAX_IN_MEMORY = 4 * 1024 * 1024;

/** Statements that were all read. They can be read once more, and until then, or until `close()`, a file may be open. */
export interface SpooledStatements extends AsyncIterable<string> {
  readonly count: number;
  close(): Promise<void>;
}

/**
 * Reads all statements before it resolves; a large input goes to a temporary file. The file is unlinked before its first byte is written,
 * so it disappears however the program ends.
 */
export async function spool(input: AsyncIterable<string>): Promise<SpooledStatements> {
  let buffered: string[] = [];
  let size = 0;
  let count = 0;
  let file: Awaited<ReturnType<typeof openUnnamedFile>> | undefined;
  try {
    for await (const statement of input) {
      count++;
      buffered.push(statement);
      size += statement.length;
      if (size < MAX_IN_MEMORY) continue;
      file ??= await openUnnamedFile();
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

async function openUnnamedFile() {
  const path = join(tmpdir(), `sqlpipe-${Math.random().toString(36).slice(2)}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

/** Statements that can be awaited before they are read. */
export interface DeferredInput extends AsyncIterable<string> {
  /** Resolves when all statements have arrived. Rejects with the error of their source. */
  ready(): Promise<unknown>;
}

/**
 * Defers a source of statements: `ready()` or the first read opens it. It can be read once.
 * A program that prompts at the terminal first waits for the programs before it in the pipe, because they may prompt too. When a Node
 * process ends, it restores the terminal's mode, and the answer to another program's prompt would be echoed.
 */
export function deferInput(open: () => AsyncIterable<string>): DeferredInput {
  let all: ReturnType<typeof spool> | undefined;
  return {
    ready() {
      all ??= spool(open());
      return all;
    },
    async *[Symbol.asyncIterator]() {
      yield* (await all) ?? open();
    },
  };
}
