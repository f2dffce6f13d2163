/*! Command lines of other tools for comparison: installed on the system, or fetched for the run. */
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const FOLDER = resolve('.cache/baselines');
const SPLITTER = 'dbgate-query-splitter@4.12.0';
const SQLPARSE = 'sqlparse==0.6.1';

/** The jq to measure: the one that the environment names, such as a newer one than the system's. */
const jq = process.env.JQ ?? 'jq';
export const JQ_VERSION = execFileSync(jq, ['--version'], { encoding: 'utf8' }).trim();
/** jq before 1.7 has no --raw-output0. */
const RECORDS = JQ_VERSION < 'jq-1.7' ? `${jq} -j '.dataset[][0] + "\\u0000"'` : `${jq} --raw-output0 '.dataset[][0]'`;

const curlQuery = (query: string): string => `curl -sG "$SRC/api/v1/sql/execute" --data-urlencode "query=${query}"`;

/** The documented way to dump; `$SRC` is the instance. */
export const DUMP = `${curlQuery('SHOW CREATE DATABASE')} | ${RECORDS}`;
/** A dump of tables only, for servers without that statement. */
export const DUMP_TABLES = `${curlQuery('SELECT table_name FROM tables()')} | ${RECORDS} | xargs -0 -n1 sh -c '${curlQuery(`SHOW CREATE TABLE "$1"`)}' _ | ${RECORDS}`;
/** The documented way to replay the records on stdin; `$DST` is the instance. */
export const REPLAY = `xargs -0 -n1 sh -c 'curl -sG "$DST/api/v1/sql/execute" --data-urlencode "query=$1"; echo' _`;

/** Sends the records on stdin one after the other over one kept-alive connection: the minimum for any program. */
export const loop = (instance: string): string => `node bench/loop.mjs ${instance}`;

/** Fetches splitters of SQL text; returns the name and the command line of each that could be fetched. */
export function splitters(): [name: string, command: (file: string) => string][] {
  const all: [string, (file: string) => string][] = [];
  const addFetched = (name: string, program: string, args: string[], command: (file: string) => string) => {
    try {
      execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
      all.push([name, command]);
    } catch {
      console.error(`${name} could not be fetched, and is left out`);
    }
  };
  addFetched(
    SPLITTER.replace('@', ' '),
    'npm',
    ['install', '--silent', '--no-save', '--prefix', FOLDER, SPLITTER],
    file => `node bench/split.mjs ${FOLDER}/node_modules/dbgate-query-splitter/lib/index.js ${file}`,
  );
  const python = 'import sqlparse, sys; sys.stdout.writelines(s + "\\0" for s in sqlparse.split(open(sys.argv[1])))';
  addFetched(
    SQLPARSE.replace('==', ' '),
    'python3',
    ['-m', 'pip', 'install', '--quiet', '--upgrade', '--target', FOLDER, SQLPARSE],
    file => `PYTHONPATH=${FOLDER} python3 -c '${python}' ${file}`,
  );
  return all;
}
