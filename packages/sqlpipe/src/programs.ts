/*! The programs, each by its own name and as a command of sqlpipe; only this file imports them. */
import type { Main } from '@sqlpipe/cli';

const program = (name: string, summary: string, load: () => Promise<{ readonly main: Main }>) => ({
  command: name.slice('sql'.length),
  name,
  summary,
  load,
});

/** The programs that are also installed under their own name. */
export const PROGRAMS = [
  program(
    'sqldump',
    'write the schema of a database instance as a stream of statements',
    () => import('@sqlpipe/sqldump'),
  ),
  program(
    'sqlsplit',
    'turn .sql text or a folder of files into a stream of statements',
    () => import('@sqlpipe/sqlsplit'),
  ),
  program(
    'sqljoin',
    'turn a stream of statements into .sql text or a folder of files',
    () => import('@sqlpipe/sqljoin'),
  ),
  program('sqlapply', 'apply statements to a database instance', () => import('@sqlpipe/sqlapply')),
  program('sqldiff', 'compare two schemas object by object', () => import('@sqlpipe/sqldiff')),
  program('sqlgrep', 'select statements of a stream by kind and name', () => import('@sqlpipe/sqlgrep')),
  program('sqlsort', 'sort a stream of statements in dependency order, or draw it', () => import('@sqlpipe/sqlsort')),
  program('sqltr', 'translate a schema to other names, owners, editions or versions', () => import('@sqlpipe/sqltr')),
  program(
    'sqlserve',
    'run a QuestDB-compatible test server that stores schema only',
    () => import('@sqlpipe/sqlserve'),
  ),
];

/** The commands that only sqlpipe has and that have options of their own, and what they do. */
export const OWN_PROGRAMS = {
  copy: 'copy the schema of one instance to another',
  check: 'check whether sqldump and sqlapply can use an instance',
} as const;

export const OWN_COMMANDS = {
  ...OWN_PROGRAMS,
  completion: 'print a shell completion script for all programs',
  help: 'print the options of a program',
} as const;
