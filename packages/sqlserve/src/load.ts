/*! Statements from files, run before the service listens: `.sql` text or a statement stream, told apart by its NULs. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { fromText } from '@sqlpipe/files';
import { statements } from '@sqlpipe/records';
import { secretsOf, starOut } from '@sqlpipe/sql';
import { Refusal } from './parser/refusal.js';

/** A statement of a file that was refused. */
export class LoadError extends Error {
  readonly code = 'REFUSED';
}

/** Runs every statement of a file. @throws LoadError at the first refusal */
export async function load(path: string, execute: (statement: string) => Promise<unknown>): Promise<void> {
  let number = 0;
  for await (const batch of await statementsOf(path)) {
    for (const statement of [batch].flat()) {
      number++;
      try {
        await execute(statement);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const reason = `${error.message} (at ${error.position} of: ${firstLine(statement)})`;
        throw new LoadError(`${path}: statement ${number}: ${starOut(reason, secretsOf(statement))}`);
      }
    }
  }
}

async function statementsOf(path: string): Promise<AsyncIterable<string | string[]>> {
  const isStream = await holdsNul(path);
  const input = createReadStream(path);
  return isStream ? statements(input) : fromText(input, path, maxStatement);
}

/** In UTF-16 code units: what one record of a stream may have in bytes. */
const maxStatement = 16 * 1024 * 1024;

async function holdsNul(path: string): Promise<boolean> {
  const file = await open(path).catch((error: Error) => {
    throw Object.assign(error, { code: 'NOINPUT' });
  });
  try {
    for await (const chunk of file.createReadStream({ autoClose: false }))
      if ((chunk as Buffer).includes(0)) return true;
    return false;
  } catch (error) {
    throw Object.assign(error as Error, { path });
  } finally {
    await file.close();
  }
}

const firstLine = (statement: string): string => statement.split('\n', 1)[0] ?? '';
