/*! Recorded dumps of complete databases on real servers, if the recordings are available. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repair } from '@sqlpipe/ddl';
import { CORPUS } from './corpus.js';

export interface Database {
  name: string;
  creation: string[];
  dump: string[];
  /** The rows as sqldump writes them: repaired, so that they can be replayed. */
  statements: string[];
}

const FOLDER = CORPUS && join(CORPUS, 'databases');

if (!FOLDER) console.error('Recorded databases are left out: CORPUS is missing');

export const databases: Database[] = (FOLDER ? readdirSync(FOLDER) : []).map(name => {
  const recorded = JSON.parse(readFileSync(join(FOLDER as string, name), 'utf8'));
  return { name, ...recorded, statements: recorded.dump.map((row: string) => repair(row).statement) };
});
