/*! Whole databases as a real server dumped them, where the recordings are. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repair } from '@sqlpipe/ddl';
import { CORPUS } from './corpus.js';

/** A recorded database. */
export interface Database {
  name: string;
  /** The statements that made it. */
  creation: string[];
  /** The rows of SHOW CREATE DATABASE. */
  dump: string[];
  /** The same as sqldump has them: such that they replay. */
  statements: string[];
}

const FOLDER = CORPUS && join(CORPUS, 'databases');

if (!FOLDER) console.error('Recorded databases are left out: CORPUS is missing');

/** All of them; none where the recordings are missing. */
export const databases: Database[] = (FOLDER ? readdirSync(FOLDER) : []).map(name => {
  const recorded = JSON.parse(readFileSync(join(FOLDER as string, name), 'utf8'));
  return { name, ...recorded, statements: recorded.dump.map((row: string) => repair(row).statement) };
});
