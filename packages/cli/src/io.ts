/*! The process as the programs see it: where data comes in, where it goes out, and where people are told about it. */
import { fstatSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { escapeLines, printable } from '@sqlpipe/sql';
import { UsageError } from './exit.js';
import { Progress } from './progress.js';

/** What a program may use of its process. */
export interface Io {
  readonly env: NodeJS.ProcessEnv;
  /** Standard input as data. @throws UsageError where it is a terminal, as nobody types a stream, or a folder */
  stdin(): Readable;
  readonly stdout: Writable & { isTTY?: boolean };
  /** Whether standard output takes colors: a terminal that is not dumb, unless NO_COLOR is set. */
  readonly colors: boolean;
  /** Whether standard error takes colors, as `colors`. */
  readonly errorColors: boolean;
  /** Tells people what went wrong; always shown. @param below lines that belong to it, safe to show, with colors or without */
  error(message: string, below?: readonly string[]): void;
  /** Tells people what they should know; one line, always shown but for `-q`. */
  warn(message: string): void;
  /** Tells people what went on; shown with `-v`, or where a terminal shows it. */
  note(message: string): void;
  /** As `note`, for what it all came to; the program at the end of a pipe tells it. */
  summary(message: string): void;
  /** Tells of a request that was sent, without secrets; undefined unless `-vv` asks for it. */
  readonly logRequest: ((message: string) => void) | undefined;
  /** Where to draw progress: undefined where nobody would see it, and where the next program in a pipe draws its own. */
  progress(): Progress | undefined;
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
  /** How often `-v` was given. */
  verbose: number;
}

/** The only maker of `Io`. `name` is put before each message. */
export function processIo(name: string, { quiet, verbose }: Loudness): Io {
  const { isTTY } = process.stderr;
  const say = (message: string, color?: Color, below: readonly string[] = []): void => {
    drawn?.wipe();
    const prefix = color ? styleText(color, `${name}:`, { stream: process.stderr }) : `${name}:`;
    process.stderr.write(`${isTTY && !isDumb ? WIPE : ''}${prefix} ${[escapeLines(message), ...below].join('\n')}\n`);
  };
  return {
    env: process.env,
    stdin() {
      if (process.stdin.isTTY) throw new UsageError('reads standard input from a pipe or a file, not from a terminal');
      if (fstatSync(0).isDirectory())
        throw new UsageError('reads standard input from a pipe or a file, not from a directory');
      return process.stdin;
    },
    stdout: process.stdout,
    colors: process.stdout.isTTY === true && process.stdout.hasColors(),
    errorColors: isTTY === true && process.stderr.hasColors(),
    error: (message, below) => say(message, 'red', below),
    warn: message => {
      if (!quiet) say(printable(message), 'yellow');
    },
    note: message => {
      if (!quiet && (verbose || isTTY)) say(printable(message));
    },
    summary: message => {
      if (!quiet && (verbose || (isTTY && !isPiped()))) say(message);
    },
    logRequest: verbose > 1 && !quiet ? message => say(printable(message)) : undefined,
    progress() {
      if (!quiet && isTTY && !isDumb && !isPiped()) drawn = new Progress(name, process.stderr);
      return drawn;
    },
    print: text =>
      new Promise((resolve, reject) => {
        drawn?.wipe();
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

/** What is drawn now. */
let drawn: Progress | undefined;

/** Colors of the terminal's own, which it shows well on dark and on light. */
type Color = 'red' | 'yellow';

/** To the beginning of the line and rid of what the other end of a pipe may be drawing there. */
const WIPE = '\r\x1b[K';

const isDumb = process.env['TERM'] === 'dumb';

/** Whether another program reads what this one writes. */
function isPiped(): boolean {
  const stdout = fstatSync(1);
  return stdout.isFIFO() || stdout.isSocket();
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
