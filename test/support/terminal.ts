/*! Simulates a user at a terminal: bash on a pseudo-terminal, and answers that are typed when a question appears. */
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { resolve } from 'node:path';
import { freshFolder } from './folder.js';
import type { Scope } from './scope.js';
import { CACHE } from './shell.js';

const PROGRAMS = resolve('node_modules/.bin');

/** What a script printed on both output streams together, and its exit status. */
export interface Seen {
  code: number;
  screen: string;
}

export type Answer = readonly [question: RegExp, keys: string];

/** Runs scripts in bash, each on a new terminal, with 80 columns unless the script sets `stty cols`. */
export interface Terminal {
  (bash: string, answers?: readonly Answer[]): Promise<Seen>;
  shows(text: RegExp): Promise<void>;
}

/** Opens a terminal. All scripts share one new folder, which is also their home. */
export async function terminal(scope: Scope, env: NodeJS.ProcessEnv = {}): Promise<Terminal> {
  const cwd = await freshFolder(scope);
  let screen = '';
  const output = new EventEmitter();
  const run = async (bash: string, answers: readonly Answer[] = []): Promise<Seen> => {
    const settings = { HOME: cwd, XDG_CACHE_HOME: CACHE, SHELL: '/bin/bash', TERM: 'xterm', ...env };
    const child = spawn('script', ['-qec', `stty cols 80; ${bash}`, '/dev/null'], {
      cwd,
      env: { ...process.env, CI: undefined, NO_COLOR: undefined, ...settings, PATH: `${PROGRAMS}:${process.env.PATH}` },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const remaining = [...answers];
    screen = '';
    let unanswered = '';
    child.stdout.setEncoding('utf8').on('data', text => {
      screen += text;
      output.emit('text');
      unanswered += text;
      while (remaining[0]?.[0].test(unanswered)) {
        child.stdin.write(remaining.shift()?.[1]);
        unanswered = '';
      }
    });
    const [code] = await once(child, 'close');
    return { code, screen };
  };
  const shows = async (text: RegExp) => {
    while (!text.test(screen)) await once(output, 'text');
  };
  return Object.assign(run, { shows });
}
