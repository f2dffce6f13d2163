/*! The process as the programs see it: where data comes in, where it goes out, and where people are told about it. */
import { fstatSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { printable } from '@sqlpipe/sql';
import { UsageError } from './exit.js';

/** What a program may use of its process. */
export interface Io {
  readonly env: NodeJS.ProcessEnv;
  /** Standard input as data. @throws UsageError where it is a terminal, as nobody types a stream, or a folder */
  stdin(): Readable;
  readonly stdout: Writable & { isTTY?: boolean };
  /** Whether standard output takes colours: a terminal that is not dumb, unless NO_COLOR is set. */
  readonly colours: boolean;
  /** Tells people what went wrong; always shown. */
  error(message: string): void;
  /** Tells people what they should know; one line, always shown but for `-q`. */
  warn(message: string): void;
  /** Tells people what went on; shown with `-v`, or where a terminal shows it. */
  note(message: string): void;
  /** Writes text to standard output; waits until it is taken. */
  print(text: string): Promise<void>;
  /** Asks for a secret on the terminal, beside all three streams; undefined where nobody is there to answer. */
  ask(question: string): Promise<string | undefined>;
  /** Aborts at SIGINT, SIGTERM or SIGHUP. Whoever asks for it must end soon then; the program still dies by the signal. */
  readonly interrupted: AbortSignal;
}

/** Loudness as the options have it. */
export interface Loudness {
  quiet: boolean;
  verbose: boolean;
}

/** The only maker of `Io`. `name` is put before each message. */
export function processIo(name: string, { quiet, verbose }: Loudness): Io {
  const say = (message: string): void => {
    process.stderr.write(`${name}: ${message.replace(/[^\n\t]+/g, printable)}\n`);
  };
  return {
    env: process.env,
    stdin() {
      if (process.stdin.isTTY) throw new UsageError('expects a stream on standard input, not a terminal');
      if (fstatSync(0).isDirectory()) throw new UsageError('expects a stream on standard input, not a directory');
      return process.stdin;
    },
    stdout: process.stdout,
    colours: process.stdout.isTTY === true && process.env.TERM !== 'dumb' && !process.env.NO_COLOR,
    error: say,
    warn: message => {
      if (!quiet) say(message);
    },
    note: message => {
      if (!quiet && (verbose || process.stderr.isTTY)) say(message);
    },
    print: text =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, error => (error ? reject(error) : resolve()));
      }),
    async ask(question) {
      const { ask } = await import('./ask.js'); // few runs ask
      return ask(`${name}: ${printable(question)}`);
    },
    get interrupted() {
      return (interruption ??= interruptible()).signal;
    },
  };
}

let interruption: AbortController | undefined;

/** How the signal that interrupted the program is called, if one did. */
export const interruptedBy = (): NodeJS.Signals | undefined =>
  interruption?.signal.reason as NodeJS.Signals | undefined;

/** The first signal asks the program to end; a second one ends it. */
function interruptible(): AbortController {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => controller.abort(signal));
  return controller;
}
