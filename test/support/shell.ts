/*! Pipelines in a real bash, with the built programs on the PATH as a user has them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { freshFolder } from './folder.js';
import type { Scope } from './scope.js';

const PROGRAMS = resolve('node_modules/.bin');
/** One cache for all home folders, so that the programs are compiled only once. */
export const CACHE = resolve('.cache');

/** The result of a script. `code` is the shell's exit status: 128 plus the signal's number if a signal ended it. */
export interface Outcome {
  code: number;
  /** UTF-8, which is checked: no two different outputs are the same text. */
  stdout: string;
  stderr: string;
}

/**
 * Runs scripts. `exits` runs one that has to end with a status, and `ok` one that has to end with 0; `silent` runs one that may print
 * no messages either, and returns its output. Otherwise they throw its messages.
 */
export interface Shell {
  (script: string): Promise<Outcome>;
  exits(status: number, script: string): Promise<Outcome>;
  ok(script: string): Promise<Outcome>;
  silent(script: string): Promise<string>;
}

/** Adds these to a function that runs scripts. */
export function toShell(run: (script: string) => Promise<Outcome>): Shell {
  const exits = async (status: number, script: string): Promise<Outcome> => {
    const outcome = await run(script);
    const { code, stdout, stderr } = outcome;
    if (code !== status) throw new Error(`status ${code}, not ${status}, of ${script}\n${stderr}${stdout}`);
    return outcome;
  };
  const silent = async (script: string): Promise<string> => {
    const { stdout, stderr } = await exits(0, script);
    if (stderr !== '') throw new Error(`${script} is not silent: ${stderr}`);
    return stdout;
  };
  return Object.assign((script: string) => run(script), { exits, ok: (script: string) => exits(0, script), silent });
}

/**
 * Returns a function that runs scripts in bash. All scripts share one new folder, which is also their home. stdin is
 * empty; neither `-e` nor `pipefail` is set unless the script does so.
 */
export async function shell(scope: Scope, env: NodeJS.ProcessEnv = {}) {
  const cwd = await freshFolder(scope);
  return shellIn(cwd, shellEnvironment(cwd, env));
}

export const shellEnvironment = (cwd: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...process.env,
  HOME: cwd,
  XDG_CACHE_HOME: CACHE,
  ...env,
  PATH: `${PROGRAMS}:${process.env.PATH}`,
});

export const shellIn = (cwd: string, env: NodeJS.ProcessEnv): Shell =>
  toShell(async script => {
    const bash = spawn('bash', ['-c', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [[code], stdout, stderr] = await Promise.all([once(bash, 'close'), buffer(bash.stdout), text(bash.stderr)]);
    return { code, stdout: decode(stdout), stderr };
  });

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const decode = (bytes: Uint8Array): string => utf8.decode(bytes);

/** What sqlapply prints with -v, without the statements that it sent. */
export const withoutStatements = (stderr: string): string =>
  stderr.replace(/^sqlapply: (?:statement \d+ |\S+:\d+: ).*: applied\n(?: {2}.*\n)+/gm, '');
