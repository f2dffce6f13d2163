/*! The programs by the names that they have here and of their own; the only place that imports them. */

/** A program of the family. */
export interface ProgramEntry {
  /** `dump` */
  command: string;
  /** `sqldump` */
  name: string;
  /** What it does, as its man page has it. */
  summary: string;
  /** Loads the program, which runs it on the arguments of this process. */
  run(): Promise<unknown>;
}

/** The programs that have a file of their own. */
export const PROGRAMS: readonly ProgramEntry[] = [
  {
    command: 'dump',
    name: 'sqldump',
    summary: 'write the schema of a database instance as a stream of statements',
    run: () => import('@sqlpipe/sqldump'),
  },
  {
    command: 'split',
    name: 'sqlsplit',
    summary: 'turn .sql text or a folder of files into a stream of statements',
    run: () => import('@sqlpipe/sqlsplit'),
  },
  {
    command: 'join',
    name: 'sqljoin',
    summary: 'turn a stream of statements into .sql text or a folder of files',
    run: () => import('@sqlpipe/sqljoin'),
  },
  {
    command: 'apply',
    name: 'sqlapply',
    summary: 'apply statements to a database instance',
    run: () => import('@sqlpipe/sqlapply'),
  },
  {
    command: 'diff',
    name: 'sqldiff',
    summary: 'compare two schemas object by object',
    run: () => import('@sqlpipe/sqldiff'),
  },
  {
    command: 'grep',
    name: 'sqlgrep',
    summary: 'select statements of a stream by kind and name',
    run: () => import('@sqlpipe/sqlgrep'),
  },
  {
    command: 'sort',
    name: 'sqlsort',
    summary: 'sort a stream of statements in dependency order, or draw it',
    run: () => import('@sqlpipe/sqlsort'),
  },
  {
    command: 'tr',
    name: 'sqltr',
    summary: 'translate a schema to other names, owners, editions or versions',
    run: () => import('@sqlpipe/sqltr'),
  },
  {
    command: 'serve',
    name: 'sqlserve',
    summary: 'run a QuestDB-compatible test server that stores schema only',
    run: () => import('@sqlpipe/sqlserve'),
  },
];

/** What there is besides, with what it does. */
export const OWN_COMMANDS = {
  check: 'check whether sqldump and sqlapply can use an instance',
  completion: 'print a shell completion script for all programs',
  help: 'print the options of a program',
} as const;
