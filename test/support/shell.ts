/*! Pipelines in a real bash, with the built programs on the PATH as a user has them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { freshFolder } from './folder.js';
import type { Scope } from './scope.js';

const PROGRAMS = resolve('node_modules/.bin');
/** One for all, so that no home is a reason to compile the programs anew. */
export const CACHE = resolve('.cache');

/** What a script left behind. `code` is the shell's exit status, 128 and the signal's number where a signal ended it. */
export interface Outcome {
  code: number;
  stdout: Buffer;
  stderr: string;
}

/**
 * A bash in a fresh folder, its home too, that it keeps from script to script. stdin is empty, and neither `-e` nor
 * `pipefail` is set unless the script does so.
 */
export async function shell(scope: Scope, env: NodeJS.ProcessEnv = {}) {
  const cwd = await freshFolder(scope);
  return async (script: string): Promise<Outcome> => {
    const bash = spawn('bash', ['-c', script], {
      cwd,
      env: { ...process.env, HOME: cwd, XDG_CACHE_HOME: CACHE, ...env, PATH: `${PROGRAMS}:${process.env.PATH}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [[code], stdout, stderr] = await Promise.all([once(bash, 'close'), buffer(bash.stdout), text(bash.stderr)]);
    return { code, stdout, stderr };
  };
}
