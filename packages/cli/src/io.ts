import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { escapeControls, escapeLines } from '@sqlpipe/text';
import { UsageError } from './exit.js';
import type { Output, ProcessLike } from './process-like.js';
import { Progress } from './progress.js';

/** What a program may use of its process. */
export interface Io {
  readonly env: NodeJS.ProcessEnv;
  /** Standard input as data. @throws UsageError if it is a terminal or a folder */
  stdin(): Readable;
  readonly stdout: Writable & { isTTY?: boolean };
  /** Whether standard output supports colors: a terminal that is not dumb, unless NO_COLOR is set. */
  readonly colors: boolean;
  readonly errorColors: boolean;
  /** Prints an error; always shown. @param below further lines of the message, safe to show, with or without colors */
  error(message: string, below?: readonly string[]): void;
  /** Prints a warning, hidden by `-q`. @param below further lines, as those of an error */
  warn(message: string, below?: readonly string[]): void;
  /** Prints information; shown with `-v` or on a terminal. */
  info(message: string): void;
  /** Prints a detail; shown only with `-v`. @param below further lines, safe to show */
  detail(message: string, below?: readonly string[]): void;
  /** Like `info`, for the summary; without `-v`, only the last program of a pipe shows it. */
  summary(message: string): void;
  /** Reports a request that was sent, without secrets; undefined without `-vv`. */
  readonly logRequest: ((message: string) => void) | undefined;
  /** The progress display; undefined if it would not be visible, or if the next program of a pipe shows its own. */
  progress(): Progress | undefined;
  /** Writes text to standard output; waits until it is accepted. */
  write(text: string): Promise<void>;
  /** Asks for a secret on the terminal, not on the three streams; undefined without a terminal. */
  promptSecret(question: string): Promise<string | undefined>;
  /** Catches SIGINT, SIGTERM and SIGHUP: the result aborts, and the program must end soon. The same signal then ends the process. */
  catchSignals(): AbortSignal;
}

export interface Verbosity {
  quiet: boolean;
  verbose: number;
}

/** @param name precedes each message */
export function createIo(
  name: string,
  { quiet, verbose }: Verbosity,
  { env, stdin, stdout, stderr, fstat, catchSignals }: ProcessLike,
): Io {
  let progress: Progress | undefined;
  const isDumb = env['TERM'] === 'dumb';
  const isPiped = (): boolean => {
    const type = fstat(1);
    return type.isFIFO() || type.isSocket();
  };
  const writeMessage = (message: string, color?: Color, below: readonly string[] = []): void => {
    progress?.clear();
    const prefix = color ? styleText(color, `${name}:`, { stream: stderr }) : `${name}:`;
    stderr.write(
      `${stderr.isTTY && !isDumb ? CLEAR_LINE : ''}${prefix} ${[escapeLines(message), ...below].join('\n')}\n`,
    );
  };
  return {
    env,
    stdin() {
      const input = stdin();
      if (input.isTTY) throw new UsageError('standard input is a terminal; it must be a pipe or a file');
      if (fstat(0).isDirectory()) throw new UsageError('standard input is a directory; it must be a pipe or a file');
      return input;
    },
    stdout,
    colors: hasColors(stdout),
    errorColors: hasColors(stderr),
    error: (message, below) => writeMessage(message, 'red', below),
    warn: (message, below) => {
      if (!quiet) writeMessage(escapeControls(message), 'yellow', below);
    },
    info: message => {
      if (!quiet && (verbose || stderr.isTTY)) writeMessage(escapeControls(message));
    },
    detail: (message, below) => {
      if (!quiet && verbose) writeMessage(message, undefined, below);
    },
    summary: message => {
      if (!quiet && (verbose || (stderr.isTTY && !isPiped()))) writeMessage(message);
    },
    logRequest: verbose > 1 && !quiet ? message => writeMessage(escapeControls(message)) : undefined,
    progress() {
      if (!quiet && stderr.isTTY && !isDumb && !isPiped()) progress = new Progress(name, stderr);
      return progress;
    },
    write: text =>
      new Promise((resolve, reject) => {
        progress?.clear();
        stdout.write(text, error => (error ? reject(error) : resolve()));
      }),
    async promptSecret(question) {
      const { promptSecret } = await import('./prompt-secret.js'); // loaded late, because few runs prompt
      return promptSecret(`${name}: ${escapeControls(question)}`);
    },
    catchSignals,
  };
}

const hasColors = (stream: Output): boolean => stream.isTTY === true && stream.hasColors?.() === true;

/** Colors of the terminal's palette, which are readable on dark and on light backgrounds. */
type Color = 'red' | 'yellow';

/** Moves to the start of the line and erases the progress bar of another program in the pipe. */
const CLEAR_LINE = '\r\x1b[K';
