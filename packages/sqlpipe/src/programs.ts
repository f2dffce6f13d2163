/*! The programs, each as a command of sqlpipe; only this file imports them. */
import type { Main } from '@sqlpipe/cli';

const toList = (programs: Readonly<Record<string, readonly [summary: string, load: () => Promise<{ main: Main }>]>>) =>
  Object.entries(programs).map(([command, [summary, load]]) => ({ command, name: `sql${command}`, summary, load }));

/** The programs that are also installed under their own name. */
export const PROGRAMS = toList({
  dump: ['write the schema of a database instance as a stream of statements', () => import('@sqlpipe/sqldump')],
  split: ['turn .sql text or a folder of files into a stream of statements', () => import('@sqlpipe/sqlsplit')],
  join: ['turn a stream of statements into .sql text or a folder of files', () => import('@sqlpipe/sqljoin')],
  apply: ['apply statements to a database instance', () => import('@sqlpipe/sqlapply')],
  diff: ['compare two schemas object by object', () => import('@sqlpipe/sqldiff')],
  grep: ['select statements of a stream by kind and name', () => import('@sqlpipe/sqlgrep')],
  sort: ['sort a stream of statements in dependency order, or draw it', () => import('@sqlpipe/sqlsort')],
  tr: ['translate a schema to other names, owners, editions or versions', () => import('@sqlpipe/sqltr')],
  serve: ['run a QuestDB-compatible test server that stores schema only', () => import('@sqlpipe/sqlserve')],
});

/** The commands that only sqlpipe has and that have options of their own. */
export const OWN_PROGRAMS = toList({
  copy: ['copy the schema of one instance to another', () => import('./copy.js')],
  check: ['check whether sqldump and sqlapply can use an instance', () => import('./check.js')],
});
