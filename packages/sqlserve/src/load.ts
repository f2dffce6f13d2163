/*! Statements from files, executed before the server listens. */
import { RejectionError } from '@sqlpipe/ddl/grammar';
import { readSource } from '@sqlpipe/files';
import { MAX_RECORD } from '@sqlpipe/records';
import { findSecrets, maskSecrets } from '@sqlpipe/sql';

/** A statement of a file that was rejected. */
export class LoadError extends Error {
  override readonly name = 'LoadError';
  readonly code = 'REFUSED';
}

/** Executes every statement of a file or a folder. @throws LoadError at the first rejection, and errors of reading */
export async function loadFiles(path: string, execute: (statement: string) => Promise<unknown>): Promise<void> {
  let number = 0;
  for await (const batch of readSource(path, MAX_RECORD)) {
    for (const statement of [batch].flat()) {
      number++;
      try {
        await execute(statement);
      } catch (error) {
        if (!(error instanceof RejectionError)) throw error;
        const reason = `${error.message} (at ${error.position} of: ${firstLine(statement)})`;
        throw new LoadError(`${path}: statement ${number}: ${maskSecrets(reason, findSecrets(statement))}`);
      }
    }
  }
}

const firstLine = (statement: string): string => statement.split('\n', 1)[0] ?? '';
