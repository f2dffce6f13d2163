/*! Folders: fresh ones, and those with a file for each object. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStatementsAt, withoutLocations } from '@sqlpipe/files';
import { collectStatements } from '@sqlpipe/schema';
import { MAX_RECORD } from '@sqlpipe/sql';
import type { Scope } from './scope.js';

/** Path of a new empty folder, in the folder for temporary files or another, removed when the scope ends. */
export async function freshFolder(scope: Scope, parent: string = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(parent, 'sqlpipe-test-'));
  scope.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export const readFolder = (path: string): Promise<string[]> =>
  collectStatements(withoutLocations(readStatementsAt(path, MAX_RECORD)));
