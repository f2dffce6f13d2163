/*! A terminal with somebody at it: bash on a pseudo-terminal, and answers typed when a question has come. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { freshFolder } from './folder.js';
import type { Scope } from './scope.js';
import { CACHE } from './shell.js';

const PROGRAMS = resolve('node_modules/.bin');

/** What was to be seen at the end, both output streams together and as they came, and the script's exit status. */
export interface Seen {
  code: number;
  screen: string;
}

/** What to wait for on the screen, and the keys to type then. */
export type Answer = readonly [question: RegExp, keys: string];

/** A bash on a terminal of its own, 80 columns unless the script says `stty cols`, in a fresh folder, its home too. */
export async function terminal(scope: Scope, env: NodeJS.ProcessEnv = {}) {
  const cwd = await freshFolder(scope);
  return async (bash: string, answers: readonly Answer[] = []): Promise<Seen> => {
    const settings = { HOME: cwd, XDG_CACHE_HOME: CACHE, SHELL: '/bin/bash', TERM: 'xterm', ...env };
    const child = spawn('script', ['-qec', `stty cols 80; ${bash}`, '/dev/null'], {
      cwd,
      env: { ...process.env, CI: undefined, NO_COLOR: undefined, ...settings, PATH: `${PROGRAMS}:${process.env.PATH}` },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const left = [...answers];
    let screen = '';
    let unanswered = '';
    child.stdout.setEncoding('utf8').on('data', text => {
      screen += text;
      unanswered += text;
      while (left[0]?.[0].test(unanswered)) {
        child.stdin.write(left.shift()?.[1]);
        unanswered = '';
      }
    });
    const [code] = await once(child, 'close');
    return { code, screen };
  };
}
