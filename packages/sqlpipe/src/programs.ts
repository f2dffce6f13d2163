/*! The programs, each by its own name and as a command of sqlpipe; only this file imports them. */
import type { Main } from '@sqlpipe/cli';

/** A program of the family. */
export interface ProgramEntry {
  /** `dump` */
  command: string;
  /** `sqldump` */
  name: string;
  /** What the program does, in the words of its man page. */
  summary: string;
  /** Loads the program. */
  load(): Promise<{ readonly main: Main }>;
}

/** The programs that are also installed under their own name. */
export const PROGRAMS: readonly ProgramEntry[] = [
  {
    command: 'dump',
    name: 'sqldump',
    summary: 'write the schema of a database instance as a stream of statements',
    load: () => import('@sqlpipe/sqldump'),
  },
  {
    command: 'split',
    name: 'sqlsplit',
    summary: 'turn .sql text or a folder of files into a stream of statements',
    load: () => import('@sqlpipe/sqlsplit'),
  },
  {
    command: 'join',
    name: 'sqljoin',
    summary: 'turn a stream of statements into .sql text or a folder of files',
    load: () => import('@sqlpipe/sqljoin'),
  },
  {
    command: 'apply',
    name: 'sqlapply',
    summary: 'apply statements to a database instance',
    load: () => import('@sqlpipe/sqlapply'),
  },
  {
    command: 'diff',
    name: 'sqldiff',
    summary: 'compare two schemas object by object',
    load: () => import('@sqlpipe/sqldiff'),
  },
  {
    command: 'grep',
    name: 'sqlgrep',
    summary: 'select statements of a stream by kind and name',
    load: () => import('@sqlpipe/sqlgrep'),
  },
  {
    command: 'sort',
    name: 'sqlsort',
    summary: 'sort a stream of statements in dependency order, or draw it',
    load: () => import('@sqlpipe/sqlsort'),
  },
  {
    command: 'tr',
    name: 'sqltr',
    summary: 'translate a schema to other names, owners, editions or versions',
    load: () => import('@sqlpipe/sqltr'),
  },
  {
    command: 'serve',
    name: 'sqlserve',
    summary: 'run a QuestDB-compatible test server that stores schema only',
    load: () => import('@sqlpipe/sqlserve'),
  },
];

/** The commands that only sqlpipe has and that have options of their own, and what they do. */
export const OWN_PROGRAMS = {
  copy: 'copy the schema of one instance to another',
  check: 'check whether sqldump and sqlapply can use an instance',
} as const;

/** The commands that only sqlpipe has, and what they do. */
export const OWN_COMMANDS = {
  ...OWN_PROGRAMS,
  completion: 'print a shell completion script for all programs',
  help: 'print the options of a program',
} as const;
