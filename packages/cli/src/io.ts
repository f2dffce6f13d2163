import type { Readable } from 'node:stream';
import { styleText } from 'node:util';
import { escapeControls, escapeLines } from '@sqlpipe/text';
import { UsageError } from './exit-status.js';
import type { OutputStream, ProcessLike } from './process-like.js';
import { Progress } from './progress.js';

export interface Verbosity {
  quiet: boolean;
  verbose: number;
}

/** What a program may use of its process. */
export type Io = ReturnType<typeof createIo>;

/** @param name precedes each message */
export function createIo(
  name: string,
  { quiet, verbose }: Verbosity,
  { env, stdin, stdout, stderr, fstat, catchSignals }: ProcessLike,
) {
  let progress: Progress | undefined;
  const isDumb = env['TERM'] === 'dumb';
  const isPiped = (): boolean => {
    const type = fstat(1);
    return type.isFIFO() || type.isSocket();
  };
  // Colors of the terminal's palette that are readable on dark and on light backgrounds.
  const writeMessage = (message: string, color?: 'red' | 'yellow', below: readonly string[] = []): void => {
    progress?.clear();
    const prefix = color ? styleText(color, `${name}:`, { stream: stderr }) : `${name}:`;
    stderr.write(
      `${stderr.isTTY && !isDumb ? CLEAR_LINE : ''}${prefix} ${[escapeLines(message), ...below].join('\n')}\n`,
    );
  };
  return {
    env,
    /** Standard input as data. @throws UsageError if it is a terminal or a folder */
    stdin(): Readable {
      const input = stdin();
      if (input.isTTY) throw new UsageError('standard input is a terminal; it must be a pipe or a file');
      if (fstat(0).isDirectory()) throw new UsageError('standard input is a directory; it must be a pipe or a file');
      return input;
    },
    stdout,
    /** Whether standard output supports colors: a terminal that is not dumb, unless NO_COLOR is set. */
    hasColors: supportsColors(stdout),
    hasErrorColors: supportsColors(stderr),
    /** Prints an error; always shown. @param below further lines of the message, safe to show, with or without colors */
    error: (message: string, below?: readonly string[]) => writeMessage(message, 'red', below),
    /** Prints a warning, hidden by `-q`. @param below further lines, as those of an error */
    warn: (message: string, below?: readonly string[]) => {
      if (!quiet) writeMessage(escapeControls(message), 'yellow', below);
    },
    /** Prints information; shown with `-v` or on a terminal. */
    info: (message: string) => {
      if (!quiet && (verbose || stderr.isTTY)) writeMessage(escapeControls(message));
    },
    /** Prints a detail; undefined without `-v`. @param below further lines, safe to show */
    detail:
      verbose && !quiet
        ? (message: string, below?: readonly string[]) => writeMessage(message, undefined, below)
        : undefined,
    /** Like `info`, for the summary; without `-v`, only the last program of a pipe shows it. */
    summary: (message: string) => {
      if (!quiet && (verbose || (stderr.isTTY && !isPiped()))) writeMessage(message);
    },
    /** Reports a request that was sent, without secrets; undefined without `-vv`. */
    logRequest: verbose > 1 && !quiet ? (message: string) => writeMessage(escapeControls(message)) : undefined,
    /** The progress display; undefined if it would not be visible, or if the next program of a pipe shows its own. */
    progress(): Progress | undefined {
      if (!quiet && stderr.isTTY && !isDumb && !isPiped()) progress = new Progress(name, stderr);
      return progress;
    },
    /** Writes text to standard output; waits until it is accepted. */
    write: (text: string) =>
      new Promise<void>((resolve, reject) => {
        progress?.clear();
        stdout.write(text, error => (error ? reject(error) : resolve()));
      }),
    /** Asks for a secret on the terminal, not on the three streams; undefined without a terminal. */
    async promptSecret(question: string) {
      const { promptSecret } = await import('./prompt-secret.js'); // loaded late, because few runs prompt
      return promptSecret(`${name}: ${escapeControls(question)}`);
    },
    /** Catches SIGINT, SIGTERM and SIGHUP: the result aborts, and the program must end soon. The same signal then ends the process. */
    catchSignals,
  };
}

const supportsColors = (stream: OutputStream): boolean => stream.isTTY === true && stream.hasColors?.() === true;

/** Moves to the start of the line and erases the progress bar of another program in the pipe. */
const CLEAR_LINE = '\r\x1b[K';
