import { closeSync, fstatSync, type Stats } from 'node:fs';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { setFlagsFromString } from 'node:v8';
import { Exit } from './exit-status.js';

/** The arguments, the environment, the streams and the signals of a program. Paths are relative to the directory of the process. */
export interface ProcessLike {
  /** The arguments, without the name of the program. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Standard input; opened when it is called. */
  stdin(): Readable & { isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** What standard input (0) or standard output (1) is. Node opens /dev/null in place of a closed one. */
  fstat(stream: 0 | 1): Pick<Stats, 'isFIFO' | 'isSocket' | 'isDirectory'>;
  /** Catches the signals that ask a program to end; the returned signal is aborted with the name of the first. Called at most once. */
  catchSignals(): AbortSignal;
  /** Passes uncaught errors to a function that reports them and returns the exit status. */
  onUncaught(report: (error: unknown) => number): void;
}

export type OutputStream = Writable & { isTTY?: boolean; columns?: number; hasColors?(): boolean };

/** A program as a function. Resolves to the exit status. Without an argument it runs in this process, and sets its exit status. */
export type Main = (host?: ProcessLike) => Promise<number>;

/** Runs a program with the arguments and streams of this process. If a signal has ended the program, it ends the process too. */
export async function runInProcess(run: (host: ProcessLike) => Promise<number>): Promise<number> {
  process.noDeprecation = true; // deprecations in a library do not concern users
  process.exitCode = Exit.bug; // remains if the program stops before it sets another one
  // Closes terminals, because at its end, Node would restore their initial mode: without echo, if another program was reading a password.
  process.once('exit', () => {
    for (const stream of [0, 1, 2]) if (isatty(stream)) closeSync(stream);
  });
  // After some replies, V8 would optimize undici's HTTP parser (WebAssembly). On Node 20, that takes 80 ms and 35 MB, and delays the end of
  // a program. The code of V8's first compiler is fast enough. Node 24 obeys only the budget, and Node 20 only up to a budget of 400 MB.
  setFlagsFromString('--liftoff-only --wasm-tiering-budget=2147483647');
  const interruption = new AbortController();
  process.exitCode = await run({
    args: process.argv.slice(2),
    env: process.env,
    stdin: () => process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    fstat: fstatSync,
    catchSignals() {
      // The first signal requests the program to end; a second one kills it.
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
        process.once(signal, () => interruption.abort(signal));
      return interruption.signal;
    },
    onUncaught: report =>
      process.on('uncaughtException', error => {
        process.exitCode = report(error);
      }),
  });
  if (interruption.signal.aborted) process.kill(process.pid, interruption.signal.reason);
  return process.exitCode;
}

/** The exit status that a shell gives to a program that a signal ended. */
export const signalStatus = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

/** Keeps V8's space for new objects small: it would grow by 20 MB for a dump of 100 MB (bench/README.md). Storing all input gets slower. */
export const limitHeapGrowth = (): void => setFlagsFromString('--semi-space-growth-factor=1');

/**
 * Makes V8 collect garbage as soon as its heap has grown by 30 percent. With 300,000 statements in a temporary file, Node 20 then needs 30
 * percent less memory and a fifth more time. Node 24 needs ten percent less memory.
 */
export const collectGarbageEarly = (): void => setFlagsFromString('--heap-growing-percent=30');
