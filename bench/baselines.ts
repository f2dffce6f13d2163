/*! What people use now, as command lines: what a system may have already, and what is fetched for the run alone. */
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const FOLDER = resolve('.cache/baselines');
const SPLITTER = 'dbgate-query-splitter@4.12.0';
const SQLPARSE = 'sqlparse==0.6.1';

/** The jq to measure: what the environment names, such as a newer one than the system's. */
const jq = process.env.JQ ?? 'jq';
export const JQ_VERSION = execFileSync(jq, ['--version'], { encoding: 'utf8' }).trim();
/** jq before 1.7 has no --raw-output0. */
const RECORDS = JQ_VERSION < 'jq-1.7' ? `${jq} -j '.dataset[][0] + "\\u0000"'` : `${jq} --raw-output0 '.dataset[][0]'`;

const ask = (query: string): string => `curl -sG "$SRC/api/v1/sql/execute" --data-urlencode "query=${query}"`;

/** The documented way to dump; `$SRC` is the instance. */
export const DUMP = `${ask('SHOW CREATE DATABASE')} | ${RECORDS}`;
/** The same of tables alone, where the server has no such statement. */
export const DUMP_TABLES = `${ask('SELECT table_name FROM tables()')} | ${RECORDS} | xargs -0 -n1 sh -c '${ask(`SHOW CREATE TABLE "$1"`)}' _ | ${RECORDS}`;
/** The documented way to replay the records on stdin; `$DST` is the instance. */
export const REPLAY = `xargs -0 -n1 sh -c 'curl -sG "$DST/api/v1/sql/execute" --data-urlencode "query=$1"; echo' _`;

/** One kept-alive connection, and the records on stdin asked one after the other: no program can do less. */
export const loop = (instance: string): string => `node bench/loop.mjs ${instance}`;

/** Fetches splitters of SQL text; a function from a file to the command line for each that could be had. */
export function splitters(): [name: string, command: (file: string) => string][] {
  const all: [string, (file: string) => string][] = [];
  const fetched = (name: string, program: string, args: string[], command: (file: string) => string) => {
    try {
      execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
      all.push([name, command]);
    } catch {
      console.error(`${name} could not be fetched, and is left out`);
    }
  };
  fetched(
    SPLITTER.replace('@', ' '),
    'npm',
    ['install', '--silent', '--no-save', '--prefix', FOLDER, SPLITTER],
    file => `node bench/split.mjs ${FOLDER}/node_modules/dbgate-query-splitter/lib/index.js ${file}`,
  );
  const python = 'import sqlparse, sys; sys.stdout.writelines(s + "\\0" for s in sqlparse.split(open(sys.argv[1])))';
  fetched(
    SQLPARSE.replace('==', ' '),
    'python3',
    ['-m', 'pip', 'install', '--quiet', '--upgrade', '--target', FOLDER, SQLPARSE],
    file => `PYTHONPATH=${FOLDER} python3 -c '${python}' ${file}`,
  );
  return all;
}
